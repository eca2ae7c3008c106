"""What Kubernetes' own tests say of policies, under their names (its test files in brackets).

The facts are upstream's, the words are not: objects are made anew here.
"""

from __future__ import annotations

from typing import Any

import pytest
from policies_support import (
    EVERYTHING,
    Denied,
    apply,
    binding,
    cluster_of,
    compiled,
    config_map,
    deployment,
    manifest,
    mutate,
    mutating,
    patch,
    request_for,
    typed,
)

from krm_fn.admission.matching import MatchResult, match, read_constraints
from krm_fn.errors import CompileError
from krm_fn.kube.cel import environment
from krm_fn.kube.selectors import SelectorError
from krm_fn.lang.cel import Budget
from krm_fn.values import Json

C = "/spec/template/spec/containers"
INIT = "/spec/template/spec/initContainers"
TYPED = "Object.spec.template.spec.initContainers"
MAIN: Json = {"name": "main-app", "image": "nginx:1.24"}
PLAIN_INIT: Json = {"name": "unstructured-init", "image": "alpine:3.18"}
LONG_INIT: Json = {"name": "init-1", "image": "alpine:3.18", "command": ["echo", "init1"]}


def names(*of: str) -> list[Json]:
    return [{"name": name} for name in of]


def op(name: str, path: str, value: str = "", source: str = "") -> str:
    parts = [f'op: "{name}"', f'path: "{path}"']
    if source:
        parts.append(f'from: "{source}"')
    if value:
        parts.append(f"value: {value}")
    return f"JSONPatch{{{', '.join(parts)}}}"


def labelled(**labels: str) -> Json:
    return deployment(labels=labels)


def labels_of(expression: str) -> str:
    return f"[{op('add', '/metadata/labels', expression)}]"


FIELDS = """{
  "op": JSONPatch{op: "opValue"}.op,
  "path": JSONPatch{path: "pathValue"}.path,
  "from": JSONPatch{from: "fromValue"}.from,
  "value": string(JSONPatch{value: "valueValue"}.value)}"""
HAS = (
    "{"
    + ", ".join(
        f'"{name}": string(has(JSONPatch{{{name}: "x"}}.{name})), '
        f'"{name}-unset": string(has(JSONPatch{{}}.{name}))'
        for name in ("op", "path", "from", "value")
    )
    + "}"
)
ALL = 'JSONPatch{op: "add", path: "path", from: "from", value: 1}'
EQUAL = f"""{{
  "empty": string(JSONPatch{{}} == JSONPatch{{}}),
  "partial": string(JSONPatch{{op: "add"}} == JSONPatch{{op: "add"}}),
  "same-all": string({ALL} == {ALL}),
  "different-op": string(JSONPatch{{op: "add"}} == JSONPatch{{op: "remove"}}),
  "different-path": string(JSONPatch{{op: "add", path: "x", from: "from", value: 1}} == {ALL}),
  "different-from": string(JSONPatch{{op: "add", path: "path", from: "x", value: 1}} == {ALL}),
  "different-value": string(JSONPatch{{op: "add", path: "path", from: "from", value: "1"}} == {ALL})
}}"""
ESCAPED = (
    '[JSONPatch{op: "add", path: "/metadata/labels", value: {}}, JSONPatch{op: "add", '
    'path: "/metadata/labels/" + jsonpatch.escapeKey("k8s.io/x~y"), value: "true"}]'
)
WITH_PORT = f"""[JSONPatch{{op: "add", path: "{C}/-", value:
  Object.spec.template.spec.containers{{name: "x",
    ports: [Object.spec.template.spec.containers.PORTS{{FIELD: 8080}}]}}}}]"""
COMPLEX_POD: Json = {
    "nodeSelector": {"disk": "ssd"},
    "tolerations": [{"key": "gpu", "operator": "Exists", "effect": "NoSchedule"}],
    "affinity": {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [
                    {"matchExpressions": [{"key": "a", "operator": "In", "values": ["b"]}]}
                ]
            }
        }
    },
}
REQUESTS: Json = {"cpu": "100m", "memory": "128Mi"}
COMMAND = ["server", "start"]


def with_port(ports: str, name: str) -> str:
    return WITH_PORT.replace("PORTS", ports).replace("FIELD", name)


def inits(value: str) -> str:
    return f"[{op('add', INIT, value)}]"


CONTAINERS = "object.spec.template.spec.containers"
LONG = f'{TYPED}{{name: "init-1", image: "alpine:3.18", command: ["echo", "init1"]}}'
PLAIN = '{"name": "unstructured-init", "image": "alpine:3.18"}'

JSON_PATCHES: list[tuple[str, Json, str, Json]] = [
    (
        "jsonPatch with false test operation",
        deployment(replicas=1),
        f"[{op('test', '/spec/replicas', '100')}, {op('replace', '/spec/replicas', '3')}]",
        deployment(replicas=1),
    ),
    (
        "jsonPatch with true test operation",
        deployment(replicas=1),
        f"[{op('test', '/spec/replicas', '1')}, {op('replace', '/spec/replicas', '3')}]",
        deployment(replicas=3),
    ),
    (
        "jsonPatch remove to unset field",
        deployment(replicas=1),
        f"[{op('remove', '/spec/replicas')}]",
        deployment(),
    ),
    (
        "jsonPatch remove map entry by key",
        labelled(x="1", y="1"),
        f"[{op('remove', '/metadata/labels/y')}]",
        labelled(x="1"),
    ),
    (
        "jsonPatch remove element in list",
        deployment(*names("a", "b", "c")),
        f"[{op('remove', C + '/1')}]",
        deployment(*names("a", "c")),
    ),
    (
        "jsonPatch copy map entry by key",
        labelled(x="1"),
        f"[{op('copy', '/metadata/labels/y', source='/metadata/labels/x')}]",
        labelled(x="1", y="1"),
    ),
    (
        "jsonPatch copy first element to end of list",
        deployment(*names("a", "b", "c")),
        f"[{op('copy', C + '/-', source=C + '/0')}]",
        deployment(*names("a", "b", "c", "a")),
    ),
    (
        "jsonPatch move map entry by key",
        labelled(x="1"),
        f"[{op('move', '/metadata/labels/y', source='/metadata/labels/x')}]",
        labelled(y="1"),
    ),
    (
        "jsonPatch move first element to end of list",
        deployment(*names("a", "b", "c")),
        f"[{op('move', C + '/-', source=C + '/0')}]",
        deployment(*names("b", "c", "a")),
    ),
    (
        "jsonPatch add map entry by key and value",
        labelled(y="1"),
        "[" + op("add", "/metadata/labels/x", '"2"') + "]",
        labelled(x="2", y="1"),
    ),
    (
        "jsonPatch add map value to field",
        deployment(),
        labels_of('{"y": "2"}'),
        labelled(y="2"),
    ),
    (
        "jsonPatch add map to existing map",
        labelled(x="1"),
        labels_of('{"y": "2"}'),
        labelled(y="2"),
    ),
    (
        "jsonPatch add to start of list",
        deployment(*names("a")),
        "[" + op("add", C + "/0", '{"name": "x"}') + "]",
        deployment(*names("x", "a")),
    ),
    (
        "jsonPatch add to end of list",
        deployment(*names("a")),
        "[" + op("add", C + "/-", '{"name": "x"}') + "]",
        deployment(*names("a", "x")),
    ),
    (
        "jsonPatch replace key in map",
        labelled(y="1"),
        "[" + op("replace", "/metadata/labels/x", '"2"') + "]",
        labelled(x="2", y="1"),
    ),
    (
        "jsonPatch replace map value of unset field",
        deployment(),
        "[" + op("replace", "/metadata/labels", '{"y": "2"}') + "]",
        labelled(y="2"),
    ),
    (
        "jsonPatch replace map value of set field",
        labelled(x="1"),
        "[" + op("replace", "/metadata/labels", '{"y": "2"}') + "]",
        labelled(y="2"),
    ),
    (
        "jsonPatch replace first element in list",
        deployment(*names("a")),
        "[" + op("replace", C + "/0", '{"name": "x"}') + "]",
        deployment(*names("x")),
    ),
    (
        "jsonPatch add a struct by an Object value",
        deployment(),
        "["
        + op("add", "/spec", "Object.spec{selector: Object.spec.selector{}, replicas: 10}")
        + "]",
        {**deployment(), "spec": {"selector": {}, "replicas": 10}},
    ),
    (
        "JSONPatch patch type has field access",
        labelled(),
        labels_of(FIELDS),
        labelled(**{name: f"{name}Value" for name in ("op", "path", "from", "value")}),
    ),
    (
        "JSONPatch patch type has field testing",
        labelled(),
        labels_of(HAS),
        labelled(
            **{
                f"{name}{unset}": "false" if unset else "true"
                for name in ("op", "path", "from", "value")
                for unset in ("", "-unset")
            }
        ),
    ),
    (
        "JSONPatch patch type equality",
        labelled(),
        labels_of(EQUAL),
        labelled(
            **dict.fromkeys(("empty", "partial", "same-all"), "true"),
            **{f"different-{name}": "false" for name in ("op", "path", "from", "value")},
        ),
    ),
    ("JSONPatch key escaping", labelled(), ESCAPED, labelled(**{"k8s.io/x~y": "true"})),
    (
        "jsonPatch with CEL initializer",
        deployment(*names("a")),
        with_port("ports", "containerPort"),
        deployment({"name": "a"}, {"name": "x", "ports": [{"containerPort": 8080}]}),
    ),
    (
        "jsonPatch with complex struct as value",
        deployment(*names("a")),
        "[" + op("add", C + "/1", f"{CONTAINERS}[0]") + "]",
        deployment(*names("a", "a")),
    ),
    (
        "jsonPatch with large complex struct as value",
        deployment(*names("a"), pod=COMPLEX_POD),
        "[" + op("replace", "/spec/template/spec", "object.spec.template.spec") + "]",
        deployment(*names("a"), pod=COMPLEX_POD),
    ),
    (
        "jsonPatch with slice of complex struct as value",
        deployment(MAIN),
        inits(CONTAINERS),
        deployment(MAIN, init=[MAIN]),
    ),
    (
        "jsonPatch with list concatenation operator",
        deployment(*names("a")),
        "[" + op("add", C, f"{CONTAINERS} + [{CONTAINERS}[0]]") + "]",
        deployment(*names("a", "a")),
    ),
    (
        "jsonPatch with list concatenation using constant value",
        deployment({"name": "c1", "command": COMMAND}),
        "[" + op("add", C + "/0/args", f'{CONTAINERS}[0].command + ["--debug", "-v"]') + "]",
        deployment({"name": "c1", "command": COMMAND, "args": [*COMMAND, "--debug", "-v"]}),
    ),
    (
        "jsonPatch with list concatenation reading from other fields",
        deployment(MAIN, init=[PLAIN_INIT]),
        "[" + op("replace", C, f"object.spec.template.spec.initContainers + {CONTAINERS}") + "]",
        deployment(PLAIN_INIT, MAIN, init=[PLAIN_INIT]),
    ),
    (
        "jsonPatch with list concatenation (typed + unstructured)",
        deployment(MAIN),
        inits(f"{CONTAINERS} + [{PLAIN}]"),
        deployment(MAIN, init=[MAIN, PLAIN_INIT]),
    ),
    (
        "jsonPatch with list concatenation (unstructured + typed)",
        deployment(MAIN),
        inits(f"[{PLAIN}] + {CONTAINERS}"),
        deployment(MAIN, init=[PLAIN_INIT, MAIN]),
    ),
    (
        "jsonPatch with list concatenation (unstructured + unstructured)",
        deployment(MAIN),
        inits(f"[{PLAIN}] + [{PLAIN}]"),
        deployment(MAIN, init=[PLAIN_INIT, PLAIN_INIT]),
    ),
    (
        "jsonPatch with list concatenation (typed + structured)",
        deployment(MAIN),
        inits(f"{CONTAINERS} + [{LONG}]"),
        deployment(MAIN, init=[MAIN, LONG_INIT]),
    ),
    (
        "jsonPatch with list concatenation (structured + typed)",
        deployment(MAIN),
        inits(f"[{LONG}] + {CONTAINERS}"),
        deployment(MAIN, init=[LONG_INIT, MAIN]),
    ),
    (
        "jsonPatch with list concatenation (structured + structured)",
        deployment(MAIN),
        inits(f"[{LONG}] + [{LONG}]"),
        deployment(MAIN, init=[LONG_INIT, LONG_INIT]),
    ),
    (
        "jsonPatch with map key comprehension all predicate",
        labelled(env="prod", app="demo"),
        "["
        + op(
            "add",
            "/metadata/labels/added",
            'object.metadata.labels.all(k, k != "invalid") ? "true" : "false"',
        )
        + "]",
        labelled(env="prod", app="demo", added="true"),
    ),
    (
        "jsonPatch with scalar int and bool as values",
        deployment(replicas=3, paused=True),
        "["
        + op("add", "/spec/progressDeadlineSeconds", "object.spec.replicas")
        + ", "
        + op("add", "/spec/template/spec/hostNetwork", "object.spec.paused")
        + "]",
        deployment(replicas=3, paused=True, progressDeadlineSeconds=3, pod={"hostNetwork": True}),
    ),
    (
        "jsonPatch with map of resource quantities as value",
        deployment({"name": "c1", "resources": {"requests": REQUESTS}}),
        "["
        + op(
            "add",
            C + "/0/resources/limits",
            f'{{"cpu": {CONTAINERS}[0].resources.requests["cpu"], '
            f'"memory": {CONTAINERS}[0].resources.requests["memory"]}}',
        )
        + "]",
        deployment({"name": "c1", "resources": {"requests": REQUESTS, "limits": REQUESTS}}),
    ),
    (
        "jsonPatch with slice of scalars as value",
        deployment({"name": "c1", "command": COMMAND}),
        "[" + op("add", C + "/0/args", f"{CONTAINERS}[0].command") + "]",
        deployment({"name": "c1", "command": COMMAND, "args": COMMAND}),
    ),
    (
        "jsonPatch with constant complex list of struct objects as value",
        deployment(MAIN),
        inits(f"[{LONG}, {LONG}]"),
        deployment(MAIN, init=[LONG_INIT, LONG_INIT]),
    ),
    (
        "jsonPatch with map of struct as value",
        deployment({"name": "c1", "resources": {"requests": REQUESTS}}),
        "[" + op("add", C + "/0/resources/limits", f"{CONTAINERS}[0].resources.requests") + "]",
        deployment({"name": "c1", "resources": {"requests": REQUESTS, "limits": REQUESTS}}),
    ),
    (
        "jsonPatch with map of scalars as value",
        labelled(a="1"),
        "[" + op("add", "/metadata/annotations", "object.metadata.labels") + "]",
        {
            **labelled(a="1"),
            "metadata": {**labelled(a="1")["metadata"], "annotations": {"a": "1"}},
        },
    ),
    (
        "jsonPatch with constant complex struct object as value",
        deployment(*names("a")),
        "["
        + op(
            "add",
            C + "/1",
            "Object.spec.template.spec.containers{"
            'name: "sidecar", image: "busybox:1.36", command: ["sh", "-c", "sleep 3600"], '
            "resources: Object.spec.template.spec.containers.resources{"
            'limits: {"cpu": "200m", "memory": "256Mi"}}}',
        )
        + "]",
        deployment(
            {"name": "a"},
            {
                "name": "sidecar",
                "image": "busybox:1.36",
                "command": ["sh", "-c", "sleep 3600"],
                "resources": {"limits": {"cpu": "200m", "memory": "256Mi"}},
            },
        ),
    ),
    (
        "object types are not fully type checked",
        deployment(),
        "[" + op("add", "/spec", "Object.invalid{replicas: 1}") + "]",
        {**deployment(), "spec": {"replicas": 1}},
    ),
]


@pytest.mark.parametrize(
    ("live", "expression", "expected"),
    [pytest.param(*case, id=name) for name, *case in JSON_PATCHES],
)
def test_json_patch_gives_what_upstream_gives(live: Json, expression: str, expected: Json) -> None:
    assert mutate(mutating(patch(expression)), live) == typed(expected)


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        pytest.param(
            with_port("ports", "containerPortZ"),
            'strict decoding error: unknown field "spec.template.spec.containers[1].ports[0]'
            '.containerPortZ"',
            id="jsonPatch invalid CEL initializer field",
        ),
        pytest.param(
            with_port("portsZ", "containerPort"),
            "type mismatch: unexpected type name "
            '"Object.spec.template.spec.containers.portsZ", '
            'expected "Object.spec.template.spec.containers.ports", which matches field '
            "name path "
            "from root Object type",
            id="jsonPatch invalid CEL initializer type",
        ),
        pytest.param(
            "[" + op("replace", C + "/-", '{"name": "x"}') + "]",
            f"JSON Patch: replace operation does not apply: doc is missing key: {C}/-: missing "
            "value",
            id="jsonPatch replace end of list with - not allowed",
        ),
    ],
)
def test_json_patch_fails_as_upstream(expression: str, text: str) -> None:
    with pytest.raises(Denied) as caught:
        mutate(mutating(patch(expression)), deployment(*names("a")))
    assert text in str(caught.value)


VOLUMES = "Object.spec.template.spec.volumes"


def volumes(*of: Json) -> Json:
    return deployment(pod={"volumes": list(of)})


def spec(inner: str) -> str:
    return f"Object{{spec: Object.spec{{{inner}}}}}"


def pod_spec(inner: str) -> str:
    template = "Object.spec.template"
    return spec(f"template: {template}{{spec: {template}.spec{{{inner}}}}}")


def envs(*of: tuple[str, str]) -> Json:
    env = [{"name": name, "value": value} for name, value in of]
    return deployment({"name": "a", "env": env}, replicas=1)


APPLIED: list[tuple[str, Json, str, Json]] = [
    (
        "apply configuration add to listType=map",
        volumes({"name": "x"}),
        pod_spec(f'volumes: [{VOLUMES}{{name: "y"}}]'),
        volumes({"name": "x"}, {"name": "y"}),
    ),
    (
        "apply configuration update listType=map entry",
        volumes({"name": "x"}, {"name": "y"}),
        pod_spec(f'volumes: [{VOLUMES}{{name: "y", hostPath: {VOLUMES}.hostPath{{path: "a"}}}}]'),
        volumes({"name": "x"}, {"name": "y", "hostPath": {"path": "a"}}),
    ),
    (
        "apply configuration with conditionals",
        deployment(replicas=2),
        spec(
            "replicas: object.spec.replicas % 2 == 0 ? object.spec.replicas + 1 : "
            "object.spec.replicas"
        ),
        deployment(replicas=3),
    ),
    (
        "complex apply configuration initialization",
        deployment(),
        spec(
            "replicas: 1, template: Object.spec.template{"
            'metadata: Object.spec.template.metadata{labels: {"app": "nginx"}}, '
            "spec: Object.spec.template.spec{containers: [Object.spec.template.spec.containers{"
            'name: "nginx", image: "nginx:1.14.2", '
            "ports: [Object.spec.template.spec.containers.ports{containerPort: 80}], "
            "resources: Object.spec.template.spec.containers.resources{"
            'limits: {"cpu": "128M"}}}]}}'
        ),
        deployment(
            {
                "name": "nginx",
                "image": "nginx:1.14.2",
                "ports": [{"containerPort": 80}],
                "resources": {"limits": {"cpu": "128M"}},
            },
            replicas=1,
            template={"metadata": {"labels": {"app": "nginx"}}},
        ),
    ),
    (
        "apply configuration with duplicate env vars in original object",
        envs(("test", "a"), ("test", "b")),
        spec("replicas: 3"),
        {
            **envs(("test", "a"), ("test", "b")),
            "spec": {**envs(("test", "a"), ("test", "b"))["spec"], "replicas": 3},
        },
    ),
    (
        "apply configuration modify existing env variable",
        envs(("test", "a"), ("test", "b"), ("foo", "bar")),
        pod_spec(
            'containers: [Object.spec.template.spec.containers{name: "a", env: '
            '[Object.spec.template.spec.containers.env{name: "test", value: "c"}]}]'
        ),
        envs(("test", "c"), ("foo", "bar")),
    ),
]


@pytest.mark.parametrize(
    ("live", "expression", "expected"),
    [pytest.param(*case, id=name) for name, *case in APPLIED],
)
def test_apply_configuration_gives_what_upstream_gives(
    live: Json, expression: str, expected: Json
) -> None:
    assert mutate(mutating(apply(expression)), live) == typed(expected)


def test_apply_configuration_with_old_object() -> None:
    policy = mutating(
        apply(
            spec(
                "replicas: oldObject.spec.replicas % 2 == 0 ? "
                "oldObject.spec.replicas + 1 : oldObject.spec.replicas"
            )
        )
    )
    result = mutate(policy, deployment(replicas=1), old=deployment(replicas=2))
    assert result == typed(deployment(replicas=3))


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        pytest.param(
            spec('selector: Object.spec.selector{matchLabels: {"l": "v"}}'),
            "error applying patch: invalid ApplyConfiguration: may not mutate atomic "
            "arrays, maps "
            "or structs: .spec.selector",
            id="apply configuration with change to atomic",
        ),
        pytest.param(
            "Object{spec: Object.specx{replicas: 1}}",
            'type mismatch: unexpected type name "Object.specx", expected "Object.spec", which '
            "matches field name path from root Object type",
            id="apply configuration with invalid type name",
        ),
        pytest.param(
            spec("replicasx: 1"),
            "error applying patch: failed to convert patch object to typed object: "
            ".spec.replicasx: field not declared in schema",
            id="apply configuration with invalid field name",
        ),
        pytest.param(
            '"I\'m a teapot!"',
            "must evaluate to Object but got string",
            id="apply configuration with invalid return type",
        ),
        pytest.param(
            "Object.spec.metadata{}",
            "must evaluate to Object but got Object.spec.metadata",
            id="apply configuration with invalid initializer return type",
        ),
    ],
)
def test_apply_configuration_fails_as_upstream(expression: str, text: str) -> None:
    with pytest.raises(Denied) as caught:
        mutate(mutating(apply(expression)), deployment(replicas=1))
    assert str(caught.value).endswith(text)


# compilation_test.go


PLUS_100 = apply(spec("replicas: object.spec.replicas + 100"))
PLUS_10 = patch("[" + op("replace", "/spec/replicas", "object.spec.replicas + 10") + "]")
NESTED = "1 == 1"
for _name in "fedcba":
    NESTED = f"variables.list.all({_name}, {NESTED})"


@pytest.mark.parametrize("mutations", [(PLUS_100, PLUS_10), (PLUS_10, PLUS_100)])
def test_apply_configuration_and_json_patch_in_either_order(mutations: tuple[Json, Json]) -> None:
    assert mutate(mutating(*mutations), deployment(replicas=1))["spec"]["replicas"] == 111


@pytest.mark.parametrize(
    "mutation",
    [
        patch("[" + op("replace", "/spec/replicas", "variables.desired + 1") + "]"),
        apply(spec("replicas: variables.desired + 1")),
    ],
    ids=["jsonPatch with variable", "apply configuration with variable"],
)
def test_a_variable_is_read(mutation: Json) -> None:
    policy = mutating(mutation, variables=[{"name": "desired", "expression": "10"}])
    assert mutate(policy, deployment(replicas=1))["spec"]["replicas"] == 11


def test_apply_configuration_with_params() -> None:
    policy = mutating(
        apply(spec('replicas: int(params.data["k1"])')),
        paramKind={"apiVersion": "v1", "kind": "ConfigMap"},
    )
    bound = binding(policy, paramRef={"name": "settings", "namespace": "shop"})
    result = mutate(
        policy, deployment(replicas=1), bindings=[bound], known=[config_map({"k1": "100"})]
    )
    assert result["spec"]["replicas"] == 100


@pytest.mark.parametrize(
    "mutation",
    [
        patch("[" + op("replace", "/spec/replicas", f"{NESTED} ? 3 : 3") + "]"),
        apply(spec(f"replicas: {NESTED} ? 3 : 3")),
    ],
    ids=["jsonPatch with excessive cost", "applyConfiguration with excessive cost"],
)
def test_an_excessive_cost_is_an_error(mutation: Json) -> None:
    variables = [{"name": "list", "expression": "[0,1,2,3,4,5,6,7,8,9]"}]
    with pytest.raises(Denied, match="operation cancelled: actual cost limit exceeded"):
        mutate(mutating(mutation, variables=variables), deployment(replicas=1))


REQUEST = (
    'request.kind.group == "apps" && request.kind.version == "v1" && '
    'request.kind.kind == "Deployment"'
)
CHECK = "authorizer.group('').resource('endpoints').check('create').allowed()"


@pytest.mark.parametrize(
    "condition",
    [
        pytest.param(REQUEST, id="request variable"),
        pytest.param("namespaceObject.metadata.name == 'shop'", id="namespace request variable"),
        pytest.param(CHECK, id="authorizer check"),
    ],
)
def test_what_a_mutation_sees_beside_the_object(condition: str) -> None:
    policy = mutating(apply(spec(f"replicas: {condition} ? 10 : 0")))
    result = mutate(policy, deployment(replicas=1), section={"authorizer": "Allow"})
    assert result["spec"]["replicas"] == 10


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        pytest.param('Object{field: "v"}.field', "v", id="object type has field access"),
        pytest.param('string(has(Object{field: "v"}.field))', "true", id="field testing, set"),
        pytest.param("string(has(Object{}.field))", "false", id="field testing, unset"),
        pytest.param("string(Object{} == Object{})", "true", id="object type equality, empty"),
        pytest.param("string(Object{a: 1} == Object{a: 1})", "true", id="equality, same"),
        pytest.param("string(Object{a: 1} == Object{a: 2})", "false", id="equality, different"),
    ],
)
def test_object_values_are_read_and_compared(expression: str, expected: str) -> None:
    policy = mutating(patch(labels_of(f'{{"r": string({expression})}}')))
    assert mutate(policy, labelled())["metadata"]["labels"] == {"r": expected}


# dispatcher_test.go and reinvocation


def test_simple_patch() -> None:
    assert mutate(mutating(PLUS_100), deployment(replicas=1))["spec"]["replicas"] == 101


def test_with_param() -> None:
    policy = mutating(
        apply(spec("replicas: object.spec.replicas + int(params.data['key'])")),
        paramKind={"apiVersion": "v1", "kind": "ConfigMap"},
    )
    bound = binding(policy, paramRef={"name": "settings", "namespace": "shop"})
    result = mutate(
        policy, deployment(replicas=1), bindings=[bound], known=[config_map({"key": "10"})]
    )
    assert result["spec"]["replicas"] == 11


def counting(name: str) -> Json:
    old = f"object.metadata.?labels[?'{name}'].orValue('0')"
    labels = f'{{"{name}": string(int({old}) + 1)}}'
    return mutating(
        apply(f"Object{{metadata: Object.metadata{{labels: {labels}}}}}"),
        name=name,
        reinvocationPolicy="IfNeeded",
    )


def test_both_policies_reinvoked() -> None:
    result = mutate([counting("policy1"), counting("policy2")], config_map())
    assert result["metadata"]["labels"] == {"policy1": "2", "policy2": "2"}


def label(name: str, key: str, value: str, **more: Any) -> Json:
    labels = f'{{"{key}": "{value}"}}'
    return mutating(
        apply(f"Object{{metadata: Object.metadata{{labels: {labels}}}}}"), name=name, **more
    )


IN_PRODUCTION = [
    {
        "name": "prod",
        "expression": "object.metadata.?labels[?'environment'].orValue('') == 'production'",
    }
]


def test_1st_policy_sets_match_condition_that_2nd_policy_matches() -> None:
    first = label("a", "environment", "production")
    second = label("b", "seen", "yes", matchConditions=IN_PRODUCTION)
    result = mutate([first, second], config_map())
    assert result["metadata"]["labels"] == {"environment": "production", "seen": "yes"}


def test_1st_policy_still_does_not_match_after_2nd_policy_sets_match_condition() -> None:
    first = label("a", "seen", "yes", matchConditions=IN_PRODUCTION, reinvocationPolicy="IfNeeded")
    second = label("b", "environment", "production", reinvocationPolicy="IfNeeded")
    result = mutate([first, second], config_map())
    assert result["metadata"]["labels"] == {"environment": "production"}


def test_a_config_map_without_data_gets_some_under_a_policy_without_rules() -> None:
    everything = "Object{metadata: Object.metadata{annotations: {'k': 'v'}}, data: {'k': 'v'}}"
    policy = mutating(apply(everything), matchConstraints={})
    result = mutate(policy, config_map())
    assert (result["metadata"]["annotations"], result["data"]) == ({"k": "v"}, {"k": "v"})


def test_an_init_container_is_appended() -> None:
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "namespace": "shop"},
        "spec": {"initContainers": names("init-container"), "containers": names("main")},
    }
    added = 'initContainers: [Object.spec.initContainers{name: "injected", image: "i"}]'
    result = mutate(mutating(apply(spec(added))), pod)
    assert [one["name"] for one in result["spec"]["initContainers"]] == [
        "init-container",
        "injected",
    ]


@pytest.mark.parametrize(
    ("changes", "again"),
    [
        pytest.param("k1 k2", {"k1", "k2", "k3"}, id="full reinvocation"),
        pytest.param("", set(), id="no output change"),
    ],
)
def test_what_is_scheduled_for_a_second_pass(changes: str, again: set[str]) -> None:
    policies = []
    for name in ("k1", "k2", "k3"):
        mutation = apply(f'Object{{data: {{"{name}": "1"}}}}')
        if name not in changes.split():
            mutation = apply("object.none")
        policies.append(
            mutating(mutation, name=name, reinvocationPolicy="IfNeeded", failurePolicy="Ignore")
        )
    cluster = cluster_of()
    (plugin,), _ = compiled(policies, None, cluster)
    outcome = plugin.evaluate(request_for(typed(config_map()), cluster), cluster)
    scheduled = {key.split()[0] for key in outcome.reinvocable} if outcome.dirty else set()
    assert scheduled == again


# matching_test.go


ANY = {**EVERYTHING, "resources": ["*/*"]}
DEPLOYMENTS = {**EVERYTHING, "apiGroups": ["apps"], "resources": ["deployments"]}
EXTENSIONS = {**DEPLOYMENTS, "apiGroups": ["extensions"], "apiVersions": ["v1beta1"]}
OLD_APPS = {**DEPLOYMENTS, "apiVersions": ["v1beta1"]}
BAD_SELECTOR = {"matchExpressions": [{"key": "key ", "operator": "In", "values": ["bad value"]}]}


@pytest.mark.parametrize(
    ("constraints", "matches"),
    [
        pytest.param({"resourceRules": [ANY]}, True, id="wildcard rule, match as requested"),
        pytest.param(
            {"resourceRules": [EXTENSIONS, OLD_APPS, DEPLOYMENTS]},
            True,
            id="specific rules, prefer exact match",
        ),
        pytest.param(
            {"resourceRules": [EXTENSIONS, OLD_APPS]}, False, id="specific rules, match miss"
        ),
        pytest.param(
            {"resourceRules": [EXTENSIONS, OLD_APPS], "matchPolicy": "Exact"},
            False,
            id="specific rules, exact match miss",
        ),
        pytest.param(
            {"resourceRules": [{**DEPLOYMENTS, "resourceNames": ["d"]}]},
            True,
            id="specific rules, prefer exact match and name match",
        ),
        pytest.param(
            {"resourceRules": [{**DEPLOYMENTS, "resourceNames": ["wrong-name"]}]},
            False,
            id="specific rules, prefer exact match and name match miss",
        ),
        pytest.param(
            {"resourceRules": [ANY], "excludeResourceRules": [EXTENSIONS]},
            True,
            id="exclude resource match on miss",
        ),
        pytest.param(
            {"resourceRules": [ANY], "excludeResourceRules": [DEPLOYMENTS]},
            False,
            id="exclude resource miss on match",
        ),
        pytest.param({"resourceRules": []}, True, id="treat empty ResourceRules as match"),
        pytest.param(
            {"resourceRules": [{}]}, False, id="treat non-empty ResourceRules as no match"
        ),
        pytest.param(
            {"resourceRules": [EXTENSIONS], "namespaceSelector": BAD_SELECTOR},
            False,
            id="erroring namespace selector on otherwise non-matching rule doesn't error",
        ),
        pytest.param(
            {"resourceRules": [EXTENSIONS], "objectSelector": BAD_SELECTOR},
            False,
            id="erroring object selector on otherwise non-matching rule doesn't error",
        ),
    ],
)
def test_a_deployment_matches_as_upstream(constraints: Json, matches: bool) -> None:
    cluster = cluster_of()
    request = request_for(typed(deployment()), cluster)
    answer = match(read_constraints(constraints), request, cluster)
    expected = ("apps", "v1", "Deployment", "deployments") if matches else None
    assert answer == MatchResult(expected)  # type: ignore[arg-type]


@pytest.mark.parametrize("which", ["namespaceSelector", "objectSelector"])
def test_an_erroring_selector_on_an_otherwise_matching_rule_errors(which: str) -> None:
    cluster = cluster_of()
    request = request_for(typed(deployment()), cluster)
    constraints = read_constraints({"resourceRules": [ANY], which: BAD_SELECTOR})
    with pytest.raises(SelectorError, match="bad value"):
        match(constraints, request, cluster)


GADGETS = manifest("CustomResourceDefinition", "gadgets.example.com", {})
GADGETS = {
    **GADGETS,
    "apiVersion": "apiextensions.k8s.io/v1",
    "spec": {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {"plural": "gadgets", "kind": "Gadget"},
        "versions": [{"name": version, "served": True} for version in ("v1", "v2", "v3")],
    },
}


@pytest.mark.parametrize("first", ["v2", "v3"])
def test_specific_rules_equivalent_match_prefers_the_first_rule(first: str) -> None:
    second = "v3" if first == "v2" else "v2"
    rules = [
        {**EVERYTHING, "apiGroups": ["example.com"], "apiVersions": [version]}
        for version in (first, second)
    ]
    cluster = cluster_of(GADGETS)
    gadget = {"apiVersion": "example.com/v1", "kind": "Gadget", "metadata": {"name": "g"}}
    answer = match(
        read_constraints({"resourceRules": rules}), request_for(gadget, cluster), cluster
    )
    assert answer.matched == ("example.com", first, "Gadget", "gadgets")


# typeresolver_test.go


def evaluated(expression: str) -> Any:
    return environment(mutation=True).compile(expression).evaluate({}, Budget())


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        pytest.param("Object{} == Object{}", True, id="empty"),
        pytest.param("Object{intList: [1, 2, 3]}.intList.sum()", 6, id="field access"),
        pytest.param("Object{m: {'k': 'v'}}.m['k']", "v", id="map string-to-string"),
        pytest.param("Object{a: 3}.a == 1 + 2", True, id="equality check"),
        pytest.param("has(Object{?spec: optional.none()}.spec)", False, id="none, empty object"),
        pytest.param(
            "Object{?spec: optional.ofNonZeroValue("
            "Object.spec{?replicas: Object{}.?replicas})} == Object{}",
            True,
            id="object of zero value, ofNonZeroValue",
        ),
        pytest.param(
            "Object{}.?existing.hasValue()", False, id="access existing field, return none"
        ),
        pytest.param("{'foo': 1}[?'bar'].hasValue()", False, id="map non-existing field"),
        pytest.param("{'foo': 1}[?'foo'].value()", 1, id="map existing field"),
        pytest.param(
            "JSONPatch{op: 'invalid', path: '/a', value: 1}.op", "invalid", id="invalid op"
        ),
        pytest.param("JSONPatch{op: 'add', value: 1}.path", "", id="missing path"),
        pytest.param("has(JSONPatch{op: 'add', path: '/a'}.value)", False, id="missing value"),
    ],
)
def test_types_of_mutations_evaluate_as_upstream(expression: str, expected: Any) -> None:
    assert evaluated(expression) == expected


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        pytest.param("Invalid{}", "undeclared reference to 'Invalid'", id="invalid type"),
        *(
            pytest.param(
                f"JSONPatch{{{name}: 1}}",
                f"expected type of field '{name}' is 'string' but provided type is 'int'",
                id=f"JSONPatch invalid {name} type",
            )
            for name in ("op", "path", "from")
        ),
    ],
)
def test_types_of_mutations_fail_to_compile_as_upstream(expression: str, text: str) -> None:
    with pytest.raises(CompileError) as caught:
        environment(mutation=True).compile(expression)
    assert text in caught.value.message
