// The three changes of benchmarks/lists.py as a KRM function in Go, on kyaml, as most functions are.
package main

import (
	"log"

	"sigs.k8s.io/kustomize/kyaml/fn/framework"
	"sigs.k8s.io/kustomize/kyaml/kio"
	"sigs.k8s.io/kustomize/kyaml/yaml"
)

func change(object *yaml.RNode) error {
	if object.GetKind() != "Deployment" || object.GetLabels()["touch"] != "yes" {
		return nil
	}
	if err := object.PipeE(yaml.SetLabel("team", "platform")); err != nil {
		return err
	}
	if err := object.PipeE(
		yaml.Lookup("spec"),
		yaml.SetField("replicas", yaml.NewScalarRNode("5")),
	); err != nil {
		return err
	}
	sidecar := yaml.MustParse("name: sidecar\nimage: registry.example.com/sidecar:1.0\n")
	return object.PipeE(
		yaml.Lookup("spec", "template", "spec", "containers"),
		yaml.Append(sidecar.YNode()),
	)
}

func main() {
	process := func(list *framework.ResourceList) error {
		for _, object := range list.Items {
			if err := change(object); err != nil {
				return err
			}
		}
		return nil
	}
	if err := framework.Execute(framework.ResourceListProcessorFunc(process), &kio.ByteReadWriter{}); err != nil {
		log.Fatal(err)
	}
}
