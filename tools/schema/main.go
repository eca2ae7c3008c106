// Command schema writes what Kubernetes' Go types say of each kind as one table.
//
// The table is krm-fn's only source of schema facts: fields in Go's order, which of them are left
// out when empty, the Go kind of each value, how lists and maps merge, plurals and scopes. The
// libraries are the source; nothing is written by hand. Which release is read is decided by the
// module file: go.mod is the newest, go.1.32.mod the oldest one, with one each between.
//
//	go run . -out FILE
//	go run -modfile=go.1.32.mod . -out FILE
//
// The format is documented with its reader, krm_fn/kube/schema/table.py.
package main

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"encoding/json"
	"flag"
	"log"
	"os"
	"reflect"
	"runtime/debug"
	"strings"

	aggregator "k8s.io/kube-aggregator/pkg/client/clientset_generated/clientset/scheme"

	autoscaling "k8s.io/api/autoscaling/v1"
	extensions "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset/scheme"
	"k8s.io/apimachinery/pkg/runtime"
	core "k8s.io/client-go/kubernetes/scheme"
)

func main() {
	log.SetFlags(0)
	out := flag.String("out", "", "the file to write")
	flag.Parse()
	if err := os.WriteFile(*out, encode(read()), 0o644); err != nil {
		log.Fatal(err)
	}
}

// head is what is read of every table: where the chunks are, and the kinds with their resources.
type head struct {
	Kubernetes string            `json:"kubernetes"`
	Kinds      map[string]string `json:"kinds"`
	Chunks     map[string][2]int `json:"chunks"`
}

// namesChunk holds the names of all fields of all types; no Go package is called so.
const namesChunk = "names"

// chunk is the struct types of one Go package.
type chunk struct {
	Types  map[string][]string          `json:"types"`
	Atomic []string                     `json:"atomic,omitempty"`
	Go     map[string]map[string]string `json:"go,omitempty"`
}

// inAnnotations are types that no kind has a field of: annotations hold them as JSON.
var inAnnotations = []reflect.Type{
	reflect.TypeFor[autoscaling.MetricSpec](),
	reflect.TypeFor[autoscaling.MetricStatus](),
	reflect.TypeFor[autoscaling.HorizontalPodAutoscalerCondition](),
}

// read collects the kinds of all schemes and the types they consist of.
func read() (head, map[string]*chunk) {
	schemes := []*runtime.Scheme{core.Scheme, extensions.Scheme, aggregator.Scheme}
	merges := readMerges()
	resources := readResources(schemes)
	types := typeTable{merges: merges, chunks: map[string]*chunk{}}
	kinds := map[string]string{}
	for _, scheme := range schemes {
		for gvk, t := range scheme.AllKnownTypes() {
			if gvk.Version == runtime.APIVersionInternal || !isObject(t) {
				continue
			}
			entry := types.reference(t)
			if r, found := resources[gvk]; found {
				entry += " " + r
			}
			kinds[gvk.GroupVersion().String()+"/"+gvk.Kind] = entry
		}
	}
	for _, t := range inAnnotations {
		types.reference(t)
	}
	return head{Kubernetes: release(), Kinds: kinds}, types.chunks
}

// release is the Kubernetes version of the libraries that were linked: 1.32.10 for v0.32.10.
func release() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		log.Fatal("built without module information")
	}
	for _, module := range info.Deps {
		if module.Path == "k8s.io/api" {
			return "1" + strings.TrimPrefix(module.Version, "v0")
		}
	}
	log.Fatal("k8s.io/api is not linked")
	return ""
}

// encode lays the table out: the length of the head (4 bytes, big-endian), the head, the chunks.
func encode(index head, chunks map[string]*chunk) []byte {
	var body bytes.Buffer
	index.Chunks = map[string][2]int{}
	add := func(name string, packed []byte) {
		index.Chunks[name] = [2]int{body.Len(), len(packed)}
		body.Write(packed)
	}
	for _, name := range sortedKeys(chunks) {
		add(name, pack(chunks[name]))
	}
	add(namesChunk, pack(fieldNames(chunks)))
	top := pack(index)
	whole := binary.BigEndian.AppendUint32(nil, uint32(len(top)))
	return append(append(whole, top...), body.Bytes()...)
}

// pack is value as compressed JSON; maps are written with sorted keys, so the bytes are stable.
func pack(value any) []byte {
	text, err := json.Marshal(value)
	if err != nil {
		log.Fatal(err)
	}
	var packed bytes.Buffer
	writer, err := zlib.NewWriterLevel(&packed, zlib.BestCompression)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := writer.Write(text); err != nil {
		log.Fatal(err)
	}
	if err := writer.Close(); err != nil {
		log.Fatal(err)
	}
	return packed.Bytes()
}
