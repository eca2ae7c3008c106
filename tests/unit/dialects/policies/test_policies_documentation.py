"""What really happens to the examples of Kubernetes' documentation page (v1.32), and what helps.

The corrected ones are in examples/policies (documentation-*).
"""

from __future__ import annotations

from typing import Any

import yaml
from policies_support import apply, mutating, patch

from krm_fn.run.function import Done, run
from krm_fn.values import Json

CONDITION = {
    "name": "does-not-already-have-sidecar",
    "expression": '!object.spec.initContainers.exists(ic, ic.name == "mesh-proxy")',
}
FIELDS = """name: "mesh-proxy", image: "mesh-proxy/v1.0.0", args: ["proxy", "sidecar"],
  restartPolicy: "Always" """
APPLY = apply(
    f"Object{{spec: Object.spec{{initContainers: [Object.spec.initContainers{{{FIELDS}}}]}}}}"
)
PATCH = patch(
    '[JSONPatch{op: "add", path: "/spec/initContainers/-", '
    f"value: Object.spec.initContainers{{{FIELDS}}}}}]"
)
INITIALIZER = [{"name": "myapp-initializer", "image": "example/initializer:v1.0.0"}]


def sidecar(mutation: Json, group: str, **spec: Any) -> Json:
    rule = {
        "apiGroups": [group],
        "apiVersions": ["v1"],
        "operations": ["CREATE"],
        "resources": ["pods"],
    }
    return mutating(
        mutation,
        name="sidecar-policy.example.com",
        reinvocationPolicy="IfNeeded",
        **{
            "matchConstraints": {"resourceRules": [rule]},
            "matchConditions": [CONDITION],
            **spec,
        },
    )


def admit(policy: Json, **spec: Any) -> tuple[Done, Json]:
    """The function's answer to a Pod under one policy."""
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "myapp", "namespace": "default"},
        "spec": {"containers": [{"name": "myapp", "image": "example/myapp:v0.1.0"}], **spec},
    }
    value = {
        "apiVersion": "config.kubernetes.io/v1",
        "kind": "ResourceList",
        "functionConfig": policy,
        "items": [pod],
    }
    done = run(yaml.safe_dump(value).encode(), {})
    return done, yaml.safe_load(done.stdout) if done.stdout else {}


def test_pods_are_not_in_the_group_apps() -> None:
    done, answer = admit(sidecar(APPLY, "apps"))
    assert "initContainers" not in answer["items"][0]["spec"]
    assert "does not concern the object here (Pod)" in done.stderr


def test_the_condition_denies_pods_without_init_containers() -> None:
    done, _ = admit(sidecar(APPLY, ""))
    assert done.status == 1
    assert "no such key: initContainers" in done.stderr
    assert "object.spec.?initContainers.orValue([])" in done.stderr


def test_an_apply_configuration_cannot_set_args() -> None:
    done, _ = admit(sidecar(APPLY, ""), initContainers=INITIALIZER)
    assert "may not mutate atomic arrays, maps or structs: .spec.initContainers[0].args" in (
        done.stderr
    )
    assert "hint: ApplyConfiguration cannot set these at all" in done.stderr


def test_a_param_kind_that_nobody_defined_denies() -> None:
    kind = {"kind": "Sidecar", "apiVersion": "mutations.example.com/v1"}
    done, _ = admit(sidecar(PATCH, "", paramKind=kind), initContainers=INITIALIZER)
    assert "failed to find resource referenced by paramKind" in done.stderr
    assert "hint: add its CustomResourceDefinition" in done.stderr


def test_the_json_patch_needs_a_list_to_add_to() -> None:
    policy = sidecar(PATCH, "", matchConditions=[])
    done, _ = admit(policy)
    assert 'doc is missing path: "/spec/initContainers/-"' in done.stderr
    assert 'JSONPatch{op: "add", path: "/spec/initContainers", value: []}' in done.stderr


def test_the_sidecar_stands_behind_what_was_there() -> None:
    _, answer = admit(sidecar(PATCH, ""), initContainers=INITIALIZER)
    names = [one["name"] for one in answer["items"][0]["spec"]["initContainers"]]
    assert names == ["myapp-initializer", "mesh-proxy"]


def test_all_metadata_can_be_read() -> None:
    policy = mutating(
        apply(
            "Object{metadata: Object.metadata{annotations: {'n': "
            "string(object.metadata.namespace) + string(size(object.metadata))}}}"
        )
    )
    _, answer = admit(policy)
    assert answer["items"][0]["metadata"]["annotations"] == {"n": "default2"}


def test_a_field_that_the_kind_does_not_have_is_an_error_that_nobody_can_ignore() -> None:
    policy = mutating(
        patch('[JSONPatch{op: "add", path: "/spec/example", value: "x"}]'), failurePolicy="Ignore"
    )
    done, _ = admit(policy)
    assert done.status == 1
    assert 'strict decoding error: unknown field "spec.example"' in done.stderr


def test_a_test_on_a_missing_key_skips_the_patch() -> None:
    policy = mutating(
        patch(
            '[JSONPatch{op: "test", path: "/metadata/labels", value: {"a": "b"}}, '
            'JSONPatch{op: "add", path: "/metadata/labels", value: {"c": "d"}}]'
        )
    )
    done, answer = admit(policy)
    assert (done.status, "labels" in answer["items"][0]["metadata"]) == (0, False)
