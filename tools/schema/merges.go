package main

import (
	"fmt"
	"log"
	"reflect"
	"strings"

	"go.yaml.in/yaml/v3"

	crds "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	crdConverter "k8s.io/apiextensions-apiserver/pkg/client/applyconfiguration"
	"k8s.io/client-go/applyconfigurations"

	corev1 "k8s.io/api/core/v1"
	extensions "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset/scheme"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	core "k8s.io/client-go/kubernetes/scheme"
)

// merges is how values merge under server-side apply, by the name of the type's OpenAPI model.
type merges map[string]atom

// atom, typeRef and the rest follow structured-merge-diff's notation for schemas, whose Go package
// has another path in each release that is read here.
type atom struct {
	List *struct {
		ElementType         typeRef  `yaml:"elementType"`
		ElementRelationship string   `yaml:"elementRelationship"`
		Keys                []string `yaml:"keys"`
	} `yaml:"list"`
	Map *struct {
		Fields              []structField `yaml:"fields"`
		ElementRelationship string        `yaml:"elementRelationship"`
	} `yaml:"map"`
}

type structField struct {
	Name    string  `yaml:"name"`
	Type    typeRef `yaml:"type"`
	Default any     `yaml:"default"`
}

type typeRef struct {
	NamedType           string `yaml:"namedType"`
	atom                `yaml:",inline"`
	ElementRelationship string `yaml:"elementRelationship"`
}

// readMerges takes the schemas that client-go's type converters carry: an object that is turned
// into a typed value hands out the whole of it.
func readMerges() merges {
	all := merges{}
	pod, err := applyconfigurations.NewTypeConverter(core.Scheme).ObjectToTyped(&corev1.Pod{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
	})
	if err != nil {
		log.Fatal(err)
	}
	all.add(pod.Schema())
	// The converter for CustomResourceDefinitions knew no types before 1.33; none of what they hold
	// is merged by what it would tell.
	crd, err := crdConverter.NewTypeConverter(extensions.Scheme).ObjectToTyped(&crds.CustomResourceDefinition{
		TypeMeta: metav1.TypeMeta{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition"},
	})
	if err == nil {
		all.add(crd.Schema())
	}
	return all
}

func (all merges) add(schema any) {
	text, err := yaml.Marshal(schema)
	if err != nil {
		log.Fatal(err)
	}
	var read struct {
		Types []struct {
			Name string `yaml:"name"`
			atom `yaml:",inline"`
		} `yaml:"types"`
	}
	if err := yaml.Unmarshal(text, &read); err != nil {
		log.Fatal(err)
	}
	for _, definition := range read.Types {
		all[definition.Name] = definition.atom
	}
}

// structIsAtomic tells whether a struct is one value for server-side apply.
func (all merges) structIsAtomic(model string) bool {
	found, known := all[model]
	return known && found.Map != nil && found.Map.ElementRelationship == "atomic"
}

// field is how a member merges: "atomic", "set", the keys of a map list with their defaults
// (`containerPort,protocol=TCP`), or "" for a value of its own type's kind.
func (all merges) field(model, name string) string {
	owner := all[model]
	if owner.Map == nil {
		return ""
	}
	for _, member := range owner.Map.Fields {
		if member.Name == name {
			return all.relation(member.Type)
		}
	}
	return ""
}

func (all merges) relation(ref typeRef) string {
	value := all.resolve(ref)
	switch {
	case value.List != nil:
		relation := value.List.ElementRelationship
		if ref.ElementRelationship != "" {
			relation = ref.ElementRelationship
		}
		switch {
		case relation != "associative":
			return "atomic"
		case len(value.List.Keys) == 0:
			return "set"
		}
		return all.keys(value.List.Keys, value.List.ElementType)
	case value.Map != nil && ref.ElementRelationship != "":
		return ref.ElementRelationship
	case value.Map != nil && ref.NamedType == "" && value.Map.ElementRelationship == "atomic":
		return "atomic"
	}
	return ""
}

func (all merges) keys(names []string, element typeRef) string {
	defaults := map[string]any{}
	if value := all.resolve(element); value.Map != nil {
		for _, member := range value.Map.Fields {
			defaults[member.Name] = member.Default
		}
	}
	texts := []string{}
	for _, name := range names {
		if value := defaults[name]; value != nil {
			name += fmt.Sprintf("=%v", value)
		}
		texts = append(texts, name)
	}
	return strings.Join(texts, ",")
}

func (all merges) resolve(ref typeRef) atom {
	if ref.NamedType == "" {
		return ref.atom
	}
	return all[ref.NamedType]
}

// modelName is the name of a Go type's OpenAPI model: io.k8s.api.core.v1.Container.
func modelName(t reflect.Type) string {
	host, path, _ := strings.Cut(t.PkgPath(), "/")
	words := strings.Split(host, ".")
	for i, j := 0, len(words)-1; i < j; i, j = i+1, j-1 {
		words[i], words[j] = words[j], words[i]
	}
	return strings.Join(append(words, strings.Split(path, "/")...), ".") + "." + t.Name()
}
