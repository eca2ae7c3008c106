// A Kubewarden policy in mode wasi: containers must drop some capabilities, and may add only some.
//
// settings:
//
//	required_drop_capabilities  what every container drops; it is added where it is missing
//	allowed_capabilities        what a container may add; without it, anything
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
)

type settings struct {
	RequiredDrop []string  `json:"required_drop_capabilities"`
	Allowed      *[]string `json:"allowed_capabilities"`
}

type answer struct {
	Accepted bool           `json:"accepted"`
	Message  string         `json:"message,omitempty"`
	Mutated  map[string]any `json:"mutated_object,omitempty"`
}

func main() {
	var out any
	var err error
	switch os.Args[1] {
	case "validate-settings":
		out, err = validateSettings()
	case "validate":
		out, err = validate()
	default:
		err = fmt.Errorf("unknown operation %s", os.Args[1])
	}
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(out)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func validateSettings() (any, error) {
	var s settings
	decoder := json.NewDecoder(os.Stdin)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&s); err != nil {
		return map[string]any{"valid": false, "message": err.Error()}, nil
	}
	return map[string]any{"valid": true}, nil
}

func validate() (any, error) {
	var in struct {
		Settings settings `json:"settings"`
		Request  struct {
			Object map[string]any `json:"object"`
		} `json:"request"`
	}
	decoder := json.NewDecoder(os.Stdin)
	decoder.UseNumber() // so that numbers go out as they came in
	if err := decoder.Decode(&in); err != nil {
		return nil, err
	}
	pod := in.Request.Object
	spec, ok := pod["spec"].(map[string]any)
	if !ok {
		return nil, errors.New("the object has no spec")
	}
	before, _ := json.Marshal(pod)
	for _, list := range []string{"initContainers", "containers", "ephemeralContainers"} {
		containers, _ := spec[list].([]any)
		for _, one := range containers {
			container, _ := one.(map[string]any)
			capabilities := member(member(container, "securityContext"), "capabilities")
			if denied := notAllowed(texts(capabilities["add"]), in.Settings.Allowed); denied != "" {
				message := fmt.Sprintf("container %v may not add %s", container["name"], denied)
				return answer{Message: message}, nil
			}
			drops := texts(capabilities["drop"])
			for _, wanted := range in.Settings.RequiredDrop {
				if !slices.Contains(drops, wanted) {
					drops = append(drops, wanted)
				}
			}
			if len(drops) > 0 {
				capabilities["drop"] = drops
			}
		}
	}
	after, _ := json.Marshal(pod)
	if bytes.Equal(before, after) {
		return answer{Accepted: true}, nil
	}
	return answer{Accepted: true, Mutated: pod}, nil
}

// member is the map under a key, made where it is missing.
func member(value map[string]any, key string) map[string]any {
	found, ok := value[key].(map[string]any)
	if !ok {
		found = map[string]any{}
		value[key] = found
	}
	return found
}

func texts(value any) []string {
	list, _ := value.([]any)
	found := []string{}
	for _, one := range list {
		if text, ok := one.(string); ok {
			found = append(found, text)
		}
	}
	return found
}

func notAllowed(added []string, allowed *[]string) string {
	for _, one := range added {
		if allowed != nil && !slices.Contains(*allowed, one) {
			return one
		}
	}
	return ""
}
