package main

import (
	"context"
	"fmt"
	"log"
	"reflect"
	"strings"

	crds "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset/fake"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	core "k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/testing"
	services "k8s.io/kube-aggregator/pkg/client/clientset_generated/clientset/fake"
)

// clientset is a fake that remembers what it was asked for.
type clientset interface {
	Actions() []testing.Action
	ClearActions()
}

// readResources asks every typed client for something and takes from its request the resource and
// whether it names a namespace: the plurals and scopes that no Go type knows.
func readResources(schemes []*runtime.Scheme) map[schema.GroupVersionKind]string {
	found := map[schema.GroupVersionKind]string{}
	for _, clients := range []clientset{core.NewSimpleClientset(), crds.NewSimpleClientset(), services.NewSimpleClientset()} {
		set := reflect.ValueOf(clients)
		for i := range set.NumMethod() {
			method := set.Method(i).Type()
			if method.NumIn() == 0 && method.NumOut() == 1 && strings.Contains(method.Out(0).String(), "V") && method.Out(0).Kind() == reflect.Interface {
				readGroup(set.Method(i).Call(nil)[0], clients, schemes, found)
			}
		}
	}
	// A Binding is only ever created, through a client of Pods.
	found[schema.GroupVersionKind{Version: "v1", Kind: "Binding"}] = "bindings true"
	return found
}

// readGroup visits the clients of one group and version, such as CoreV1().
func readGroup(group reflect.Value, clients clientset, schemes []*runtime.Scheme, found map[schema.GroupVersionKind]string) {
	group = group.Elem()
	for i := range group.NumMethod() {
		method := group.Method(i)
		var arguments []reflect.Value
		switch {
		case method.Type().NumOut() != 1 || !strings.HasSuffix(method.Type().Out(0).Name(), "Interface"):
			continue
		case method.Type().NumIn() == 1:
			arguments = []reflect.Value{reflect.ValueOf("a")}
		}
		if method.Type().NumIn() != len(arguments) {
			continue
		}
		client := method.Call(arguments)[0]
		if object := ask(client); object != nil {
			actions := clients.Actions()
			if len(actions) != 1 {
				log.Fatalf("%v: one request was expected", client.Type())
			}
			for _, scheme := range schemes {
				if kinds, _, err := scheme.ObjectKinds(object); err == nil {
					action := actions[0]
					found[action.GetResource().GroupVersion().WithKind(kinds[0].Kind)] =
						fmt.Sprintf("%s %t", action.GetResource().Resource, action.GetNamespace() != "")
					break
				}
			}
			clients.ClearActions()
		}
	}
}

// ask calls Get, or Create where nothing can be got; it returns an empty object of the kind.
func ask(client reflect.Value) runtime.Object {
	for _, name := range []string{"Get", "Create"} {
		method := client.MethodByName(name)
		if !method.IsValid() || method.Type().NumIn() != 3 {
			continue
		}
		object := reflect.New(method.Type().Out(0).Elem())
		second := reflect.ValueOf("a")
		if name == "Create" {
			second = object
		}
		method.Call([]reflect.Value{reflect.ValueOf(context.Background()), second, reflect.Zero(method.Type().In(2))})
		return object.Interface().(runtime.Object)
	}
	return nil
}
