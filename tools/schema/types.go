package main

import (
	"log"
	"reflect"
	"slices"
	"strings"

	"maps"
)

// typeTable collects struct types as they are referred to.
type typeTable struct {
	merges merges
	chunks map[string]*chunk
}

// isObject tells kinds of objects and lists from options and other messages: they have metadata.
func isObject(t reflect.Type) bool {
	if strings.HasPrefix(t.PkgPath(), "k8s.io/apimachinery/") {
		return false
	}
	for _, field := range flatten(t) {
		if field.name == "metadata" {
			return true
		}
	}
	return false
}

// reference is a struct type's name in the table, `core/v1.Container`; its fields are added.
func (table *typeTable) reference(t reflect.Type) string {
	folder := folderOf(t)
	if table.chunks[folder] == nil {
		table.chunks[folder] = &chunk{Types: map[string][]string{}, Go: map[string]map[string]string{}}
	}
	in := table.chunks[folder]
	if _, known := in.Types[t.Name()]; !known {
		in.Types[t.Name()] = []string{}
		in.Types[t.Name()] = table.fields(t, folder)
		if said := goNames(t); len(said) > 0 {
			in.Go[t.Name()] = said
		}
		if table.merges.structIsAtomic(modelName(t)) {
			at, _ := slices.BinarySearch(in.Atomic, t.Name())
			in.Atomic = slices.Insert(in.Atomic, at, t.Name())
		}
	}
	return folder + "." + t.Name()
}

// fields is one text a field: name, code, flags, merge; see the reader for what they mean.
func (table *typeTable) fields(t reflect.Type, folder string) []string {
	texts := []string{}
	for _, field := range flatten(t) {
		code := strings.ReplaceAll(table.code(field.Type), "#"+folder+".", "#")
		merge := table.merges.field(modelName(t), field.name)
		flags := field.flags
		if flags == "" && merge != "" {
			flags = "-"
		}
		texts = append(texts, strings.TrimRight(strings.Join([]string{field.name, code, flags, merge}, " "), " "))
	}
	return texts
}

// special are the types that write and read JSON in their own way.
var special = map[string]string{
	"k8s.io/api/core/v1.ResourceList":                   "L",
	"k8s.io/apimachinery/pkg/api/resource.Quantity":     "Q",
	"k8s.io/apimachinery/pkg/util/intstr.IntOrString":   "O",
	"k8s.io/apimachinery/pkg/apis/meta/v1.Time":         "T",
	"k8s.io/apimachinery/pkg/apis/meta/v1.MicroTime":    "U",
	"k8s.io/apimachinery/pkg/apis/meta/v1.FieldsV1":     "F",
	"k8s.io/apimachinery/pkg/runtime.RawExtension":      "R",
	extensionsV1 + ".JSON":                              "J",
	extensionsV1 + ".JSONSchemaPropsOrBool":             "B",
	extensionsV1 + ".JSONSchemaPropsOrArray":            "A",
	extensionsV1 + ".JSONSchemaPropsOrStringArray":      "S",
	extensionsV1beta1 + ".JSON":                         "J",
	extensionsV1beta1 + ".JSONSchemaPropsOrBool":        "B",
	extensionsV1beta1 + ".JSONSchemaPropsOrArray":       "A",
	extensionsV1beta1 + ".JSONSchemaPropsOrStringArray": "S",
}

const (
	extensionsV1      = "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	extensionsV1beta1 = "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1"
)

// code is how values of a type are read and written.
func (table *typeTable) code(t reflect.Type) string {
	if code, found := special[t.PkgPath()+"."+t.Name()]; found {
		return code
	}
	switch t.Kind() {
	case reflect.Pointer:
		return "*" + table.code(t.Elem())
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return "y"
		}
		return "[" + table.code(t.Elem())
	case reflect.Map:
		if t.Key().Kind() == reflect.String {
			return "{" + table.code(t.Elem())
		}
	case reflect.String:
		return "s"
	case reflect.Bool:
		return "b"
	case reflect.Int32:
		return "i"
	case reflect.Int64, reflect.Int:
		return "l"
	case reflect.Float64:
		return "d"
	case reflect.Struct:
		return "#" + table.reference(t)
	}
	log.Fatalf("a type that the table cannot hold: %v", t)
	return ""
}

// goNames is what Go's errors call fields otherwise than the other facts tell: by field, the
// embedded structs on the way to it (or -), and the type's name where a scalar in it has one.
func goNames(t reflect.Type) map[string]string {
	said := map[string]string{}
	for _, field := range flatten(t) {
		via, named := "-", ""
		if len(field.via) > 0 {
			via = strings.Join(field.via, ".")
		}
		of := field.Type
		if of.Kind() == reflect.Pointer {
			of = of.Elem()
		}
		if hasNamedScalar(of) {
			named = of.String()
		}
		if text := strings.TrimSpace(via + " " + named); text != "-" {
			said[field.name] = text
		}
	}
	return said
}

func hasNamedScalar(t reflect.Type) bool {
	if _, found := special[t.PkgPath()+"."+t.Name()]; found {
		return false
	}
	switch t.Kind() {
	case reflect.Slice, reflect.Pointer:
		return hasNamedScalar(t.Elem())
	case reflect.Map:
		return hasNamedScalar(t.Key()) || hasNamedScalar(t.Elem())
	case reflect.Struct:
		return false
	}
	return t.PkgPath() != ""
}

type field struct {
	reflect.Type
	name, flags string
	via         []string
}

// flatten lists a struct's members as JSON sees them: embedded structs' members are the struct's.
func flatten(t reflect.Type) []field {
	var found []field
	for i := range t.NumField() {
		member := t.Field(i)
		name, options, _ := strings.Cut(member.Tag.Get("json"), ",")
		switch {
		case name == "-" || !member.IsExported():
		case name == "" && member.Anonymous:
			for _, inner := range flatten(member.Type) {
				inner.via = append([]string{member.Name}, inner.via...)
				found = append(found, inner)
			}
		case name == "":
			log.Fatalf("a member without a name: %v.%s", t, member.Name)
		default:
			flags := ""
			for _, option := range strings.Split(options, ",") {
				flags += map[string]string{"omitempty": "e", "omitzero": "z"}[option]
			}
			found = append(found, field{Type: member.Type, name: name, flags: flags})
		}
	}
	return found
}

// folderOf is the end of a package's path that tells API groups apart: core/v1, meta/v1.
func folderOf(t reflect.Type) string {
	path := t.PkgPath()
	for _, cut := range []string{"k8s.io/api/", "/pkg/apis/"} {
		if _, after, found := strings.Cut(path, cut); found {
			return after
		}
	}
	log.Fatalf("a struct of a package that is no API: %v (%s)", t, path)
	return ""
}

// fieldNames is every name of a field, once.
func fieldNames(chunks map[string]*chunk) []string {
	names := map[string]bool{}
	for _, one := range chunks {
		for _, fields := range one.Types {
			for _, text := range fields {
				name, _, _ := strings.Cut(text, " ")
				names[name] = true
			}
		}
	}
	return sortedKeys(names)
}

func sortedKeys[V any](m map[string]V) []string {
	return slices.Sorted(maps.Keys(m))
}
