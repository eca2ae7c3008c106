"""Reading (docs/trust.md): no object may mean more to a later reader than it meant to the rules.

The operator denies; the author writes what kubectl, Helm and Argo CD read in one way and kustomize
or a hasty reader in another. Everything goes through both ways of reading, in texts below and above
the size from which lists are read by their lines.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from krm_fn.cli import run as run_cli
from krm_fn.run.function import run
from krm_fn.wire import read_stream
from krm_fn.wire.reading import SWITCH
from krm_fn.wire.yamlstream import WORTH_IT

Json = dict[str, Any]

HEAD = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n"
CONFIG = (
    "functionConfig:\n  apiVersion: krm-fn.dev/v1alpha1\n  kind: Admission\n"
    "  metadata:\n    name: a\n  spec:\n    rules:\n    - inline: |\n"
)


def reject(select: str, value: str = "", **more: str) -> str:
    """A rule of the operator's that denies what has a value at a path."""
    criterion = {"select": select, **({"matchValue": value} if value else {}), **more}
    return yaml.safe_dump(
        {
            "apiVersion": "api.kubemod.io/v1beta1",
            "kind": "ModRule",
            "metadata": {"name": "no", "namespace": "kubemod-system"},
            "spec": {
                "type": "Reject",
                "targetNamespaceRegex": ".*",
                "rejectMessage": "denied",
                "match": [criterion],
            },
        }
    )


NO_PRIVILEGE = reject("$.spec.containers[*].securityContext.privileged", "true")
NO_PODS = reject("$.kind", "Pod")
ANYTHING = reject("$.nothing", "nobody")
"""A rule that reads every object and denies none of these."""


class Wire(NamedTuple):
    """A way of reading, and what makes a text long enough for it."""

    name: str
    padding: int

    def items(self) -> str:
        """Objects that nobody minds, as elements of a list."""
        return "".join(
            f"- apiVersion: v1\n  kind: ConfigMap\n  metadata:\n    name: other-{n}\n"
            f"  data:\n    text: {'x' * 400}\n"
            for n in range(self.padding)
        )

    def documents(self) -> str:
        return "".join(
            f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: other-{n}}}\n---\n"
            for n in range(self.padding)
        )


LONG = WORTH_IT // 400


@pytest.fixture(params=["fast short", "fast long", "reference short", "reference long"])
def wire(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Wire:
    name, size = request.param.split()
    monkeypatch.setenv(SWITCH, "reference" if name == "reference" else "")
    return Wire(name, LONG if size == "long" else 1)


class Answer(NamedTuple):
    status: int
    output: bytes
    said: str


Pipe = Callable[..., Answer]


@pytest.fixture
def pipe(wire: Wire, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> Pipe:
    """`krm-fn apply -r RULES` on documents that come by a pipe."""

    def apply(documents: str, rule: str, *options: str) -> Answer:
        (tmp_path / "rule.yaml").write_text(rule)
        data = (wire.documents() + documents).encode()
        arguments = ["apply", "-r", str(tmp_path / "rule.yaml"), *options, "-f", "-"]
        status = run_cli(arguments, data)
        captured = capfdbinary.readouterr()
        return Answer(status, captured.out, captured.err.decode())

    return apply


def function(wire: Wire, items: str, rule: str) -> Answer:
    """The KRM function on a ResourceList with these items."""
    indented = "".join(f"        {line}\n" for line in rule.splitlines())
    done = run((HEAD + wire.items() + items + CONFIG + indented).encode(), {})
    return Answer(done.status, done.stdout, done.stderr)


def pod(context: str, name: str = "web") -> str:
    return (
        f"apiVersion: v1\nkind: Pod\nmetadata:\n  name: {name}\nspec:\n  containers:\n"
        f"  - name: a\n    image: i\n    securityContext: {context}\n"
    )


def item(document: str) -> str:
    """A document as an element of a list."""
    first, *rest = document.splitlines()
    return f"- {first}\n" + "".join(f"  {line}\n" for line in rest)


DENIED, UNREADABLE = 1, 4

# ---------------------------------------------------------------------------------- yes, on, Off

TRUE = ["y", "Y", "yes", "Yes", "YES", "on", "On", "ON"]
FALSE = ["n", "N", "no", "No", "NO", "off", "Off", "OFF"]
SPELLINGS = [*TRUE, "!!bool yes", '!!bool "on"', "&a yes", "!!bool |-\n          y"]


@pytest.mark.parametrize("word", SPELLINGS)
def test_a_word_that_kubectl_takes_for_true_is_true_in_a_pipe(pipe: Pipe, word: str) -> None:
    answer = pipe(pod(f"\n      privileged: {word}"), NO_PRIVILEGE)
    assert answer.status == DENIED
    assert "denied" in answer.said


@pytest.mark.parametrize("word", SPELLINGS)
def test_a_word_is_a_boolean_in_a_resource_list_where_the_schema_has_one(
    wire: Wire, word: str
) -> None:
    answer = function(wire, item(pod(f"\n      privileged: {word}")), NO_PRIVILEGE)
    assert answer.status == DENIED
    assert "readers differ" not in answer.said
    assert "the API server refuses it" not in answer.said


@pytest.mark.parametrize("word", FALSE)
def test_a_word_for_false_is_false_for_all_readers(pipe: Pipe, wire: Wire, word: str) -> None:
    rule = reject("$.spec.containers[*].securityContext.privileged", "false")
    assert pipe(pod(f"{{privileged: {word}}}"), rule).status == DENIED
    assert function(wire, item(pod(f"{{privileged: {word}}}")), rule).status == DENIED


def test_an_alias_to_a_word_is_one(pipe: Pipe, wire: Wire) -> None:
    text = pod("{privileged: *w}").replace("name: web", "name: &w yes")
    assert pipe(text, NO_PRIVILEGE).status == DENIED
    text = pod("{privileged: *w}").replace("image: i", "image: &w yes")
    answer = function(wire, item(text), NO_PRIVILEGE)
    assert answer.status == DENIED
    assert "the API server refuses it" not in answer.said


def test_a_word_is_a_text_in_a_resource_list_where_the_schema_has_one(wire: Wire) -> None:
    document = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: m\n  labels:\n    mesh: on\n"
    document += "data:\n  answer: yes # as it is\n"
    for rule in (reject("$.data.answer", "yes"), reject("$.metadata.labels.mesh", "on")):
        assert function(wire, item(document), rule).status == DENIED
    answer = function(wire, item(document), ANYTHING)
    assert answer.status == 0
    assert "readers differ" not in answer.said
    assert b"    mesh: on\n  data:\n    answer: yes # as it is\n" in answer.output


WIDGET = "apiVersion: example.com/v1\nkind: Widget\nmetadata:\n  name: w\nspec:\n  on: yes\n"
WIDGET = WIDGET.replace("  on: yes", "  open: yes\n  word: no\n  other: On")


def crd(**properties: str) -> str:
    schema = {name: {"type": kind} for name, kind in properties.items()}
    spec = {"type": "object", "properties": schema, "x-kubernetes-preserve-unknown-fields": True}
    definition = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com",
            "names": {"kind": "Widget", "plural": "widgets"},
            "scope": "Namespaced",
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}},
                }
            ],
        },
    }
    return yaml.safe_dump(definition)


def of_widgets(select: str, value: str) -> str:
    """A policy, since KubeMod's webhook is not asked about custom kinds."""
    return f"""\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {{name: no-widgets}}
spec:
  matchConstraints:
    resourceRules:
    - {{apiGroups: [example.com], apiVersions: ['*'], operations: [CREATE], resources: ['*']}}
  validations:
  - expression: "object.spec.{select} != {value}"
    message: denied
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {{name: no-widgets}}
spec: {{policyName: no-widgets, validationActions: [Deny]}}
"""


def test_a_custom_kind_decides_by_its_definition(wire: Wire) -> None:
    items = item(crd(open="boolean", word="string")) + item(WIDGET)
    for select, value in (("open", "true"), ("word", "'no'"), ("other", "true")):
        answer = function(wire, items, of_widgets(select, value))
        assert answer.status == DENIED, (select, answer.said)
        # Of the field that the definition leaves open, readers have to be told.
        assert "spec.other: quote On or write true: readers differ" in answer.said
        assert "quote yes" not in answer.said
        assert "quote no" not in answer.said


def test_without_a_schema_a_word_is_a_boolean_and_the_author_is_warned(wire: Wire) -> None:
    answer = function(wire, item(crd()) + item(WIDGET), of_widgets("open", "true"))
    assert answer.status == DENIED
    for word in ("yes", "no", "On"):
        assert f"quote {word} or write" in answer.said


def test_a_word_as_a_key_is_the_key_that_it_is_to_kubectl(pipe: Pipe, wire: Wire) -> None:
    document = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: m\ndata:\n  yes: a\n"
    assert pipe(document, reject("$.data.true", "a")).status == DENIED
    answer = function(wire, item(document), reject("$.data.yes", "a"))
    assert answer.status == DENIED
    assert "quote the key yes: readers differ" in answer.said


@pytest.mark.parametrize(
    "keys",
    ["{yes: a, true: b}", '{yes: a, "true": b}', "{on: a, yes: b}", '{"yes": a, yes: b}',
     "{<<: {yes: a}, \"true\": b}", "{<<: {1: a}, \"1\": b}"],
)  # fmt: skip
def test_keys_that_are_one_to_some_reader_are_refused(pipe: Pipe, wire: Wire, keys: str) -> None:
    document = f"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: m\ndata: {keys}\n"
    assert pipe(document, ANYTHING).status == UNREADABLE
    assert function(wire, item(document), ANYTHING).status == 1


def test_what_is_written_around_a_word_leaves_it_as_it_is(pipe: Pipe, wire: Wire) -> None:
    rule = """\
apiVersion: api.kubemod.io/v1beta1
kind: ModRule
metadata: {name: set, namespace: kubemod-system}
spec:
  type: Patch
  targetNamespaceRegex: .*
  match: [{select: $.kind, matchValue: Pod}]
  patch:
  - {op: add, path: /metadata/labels, value: 'answer: "no"'}
  - {op: add, path: /spec/containers/0/env, value: '[{name: A, value: "off"}]'}
"""
    text = pod("\n      privileged: no   # never\n      runAsNonRoot: Yes")
    for output in (pipe(text, rule).output, function(wire, item(text), rule).output):
        assert b"privileged: no   # never\n" in output
        assert b"runAsNonRoot: Yes\n" in output
        assert b'answer: "no"\n' in output
        assert b'value: "off"\n' in output


RULE_WITH_A_WORD = NO_PODS.replace("matchValue: Pod", "matchValue: yes")


def test_a_rule_is_read_as_kubectl_reads_it(pipe: Pipe, wire: Wire) -> None:
    """KubeMod's schema wants a string there, and a boolean is none."""
    assert RULE_WITH_A_WORD != NO_PODS
    for answer in (
        pipe(pod("{}"), RULE_WITH_A_WORD),
        function(wire, item(pod("{}")), RULE_WITH_A_WORD),
    ):
        assert answer.status != 0
        assert "matchValue" in answer.said
    as_item = HEAD + wire.items() + item(RULE_WITH_A_WORD) + item(pod("{}"))
    itself = HEAD + wire.items() + item(pod("{}")) + "functionConfig:\n"
    itself += "".join(f"  {line}\n" for line in RULE_WITH_A_WORD.splitlines())
    for text in (as_item, itself):
        done = run(text.encode(), {})
        assert done.status == 1
        assert done.stdout == b""
        assert "matchValue" in done.stderr


def test_a_configuration_takes_a_word_for_what_its_field_is(wire: Wire, tmp_path: Path) -> None:
    """`idempotency: Off` is the documented spelling, and a boolean to kubectl's reader."""
    config = (
        "apiVersion: krm-fn.dev/v1alpha1\nkind: Admission\nmetadata: {name: a}\n"
        "spec:\n  idempotency: Off\n  strict: yes\n  sidecarSets: {validation: Off}\n"
        "  context: {namespaces: [{name: a, labels: {mesh: on}}]}\n"
    )
    (tmp_path / "config.yaml").write_text(config)
    (tmp_path / "rule.yaml").write_text(NO_PODS)
    options = ["--config", str(tmp_path / "config.yaml"), "-r", str(tmp_path / "rule.yaml")]
    assert run_cli(["check", *options, "-f", "-"], pod("{}").encode()) == DENIED
    spec = "".join(f"  {line}\n" for line in config.splitlines())
    rules = "    rules:\n    - inline: |\n" + "".join(
        f"        {line}\n" for line in NO_PODS.splitlines()
    )
    done = run((HEAD + item(pod("{}")) + "functionConfig:\n" + spec + rules).encode(), {})
    assert done.status == DENIED, done.stderr
    assert "denied" in done.stderr


# ----------------------------------------------------------------------------------------- merges

BASE = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: m\n"
HIDDEN = [
    "x: &m {kind: Pod}\n<<: *m\n",
    "<<: {kind: Pod}\n",
    "<<: [{a: b}, {kind: Pod}]\n",
    "!!merge <<: {kind: Pod}\n",
    "? <<\n: {kind: Pod}\n",
    "! <<: {kind: Pod}\n",
    "x: &m {<<: {kind: Pod}}\n<<: *m\n",
    "x: &m {kind: Pod}\ny: &n [*m]\n<<: [*m]\n",
]


@pytest.mark.parametrize("merge", HIDDEN)
def test_a_merge_does_not_change_the_kind_behind_the_rules(
    pipe: Pipe, wire: Wire, merge: str
) -> None:
    answer = pipe(BASE + merge, NO_PODS)
    assert answer.status == UNREADABLE
    assert "brings the key 'kind'" in answer.said
    line = wire.documents().count("\n") + BASE.count("\n") + 1
    place = re.search(r"line (\d+)", answer.said)
    assert place is not None
    assert line <= int(place[1]) <= line + merge.count("\n")
    assert function(wire, item(BASE + merge), NO_PODS).status == 1


CONTEXTS = [
    "\n      privileged: false\n      <<: {privileged: true}",
    "{privileged: false, <<: {privileged: true}}",
    "{privileged: false, <<: [{}, {privileged: true}]}",
    "{privileged: false, <<: {<<: {privileged: true}}}",
    "{privileged: null, <<: {privileged: true}}",
    "{privileged: false, <<: &m {privileged: yes}}",
    "{<<: {privileged: false, <<: {privileged: true}}}",
    "{<<: {privileged: false}, <<: {privileged: true}}",
    "{<<: {}, <<: {privileged: true}}",
    '{"<<": {}, <<: {privileged: true}}',
    "&m {privileged: false, <<: *m}",
]


@pytest.mark.parametrize("context", CONTEXTS)
def test_a_merge_that_readers_take_differently_is_refused(
    pipe: Pipe, wire: Wire, context: str
) -> None:
    assert pipe(pod(context), NO_PRIVILEGE).status == UNREADABLE
    answer = function(wire, item(pod(context)), NO_PRIVILEGE)
    assert answer.status == 1
    assert re.search(r"standard input:\d+: ", answer.said)


AGREED = [
    "\n      <<: {privileged: true}",
    "{<<: {privileged: true}}",
    "{<<: [{privileged: true}, {privileged: false}]}",
    "{<<: {privileged: false}, privileged: true}",
    "{<<: {<<: {privileged: true}}}",
    "{runAsUser: 0, <<: {privileged: true}}",
    "{privileged: true, <<: {privileged: true}}",
]


@pytest.mark.parametrize("context", AGREED)
def test_a_merge_that_all_readers_take_alike_is_seen(pipe: Pipe, wire: Wire, context: str) -> None:
    for answer in (
        pipe(pod(context), NO_PRIVILEGE),
        function(wire, item(pod(context)), NO_PRIVILEGE),
    ):
        assert answer.status == DENIED
        assert "denied" in answer.said


# ------------------------------------------------------------------------------------------ items

OUTER = {
    "ConfigMap": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: outer}\n",
    "Kptfile": "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata: {name: outer}\n",
    "ModRule": NO_PODS.replace("name: 'no'", "name: other"),
    "Kustomization": "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n",
    "Admission": "apiVersion: krm-fn.dev/v1alpha1\nkind: Admission\nmetadata: {name: outer}\n",
    "Custom": "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: outer}\n",
    "List": "apiVersion: v1\nkind: List\n",
    "PodList": "apiVersion: v1\nkind: PodList\n",
    "local": BASE.replace(
        "metadata:\n",
        "metadata:\n  annotations: {config.kubernetes.io/local-config: 'true'}\n",
    ),
}


@pytest.mark.parametrize("outer", OUTER.values(), ids=OUTER)
def test_objects_under_items_are_admitted_whatever_they_stand_in(
    pipe: Pipe, wire: Wire, outer: str
) -> None:
    text = outer + "items:\n" + item(pod("{}", "hidden"))
    for answer in (pipe(text, NO_PODS), function(wire, item(text), NO_PODS)):
        assert answer.status == DENIED
        assert "Pod" in answer.said
        assert "hidden" in answer.said


def test_an_object_in_a_list_in_json_is_admitted(pipe: Pipe, tmp_path: Path) -> None:
    inner = yaml.safe_load(pod("{}", "hidden"))
    outer = {**yaml.safe_load(OUTER["ConfigMap"]), "items": [inner]}
    (tmp_path / "rule.yaml").write_text(NO_PODS)
    rules = ["-r", str(tmp_path / "rule.yaml"), "-f", "-"]
    assert run_cli(["check", *rules], json.dumps(outer).encode()) == DENIED
    listed = {**yaml.safe_load(HEAD), "items": [outer]}
    listed["functionConfig"] = yaml.safe_load(NO_PODS)
    assert run(json.dumps(listed).encode(), {}).status == DENIED


def without_kind(document: str) -> str:
    return document.replace("apiVersion: v1\nkind: Pod\n", "")


@pytest.mark.parametrize("kind", ["Pod", "PodList"])
def test_an_element_without_a_kind_is_what_kubectl_makes_of_it(pipe: Pipe, kind: str) -> None:
    text = f"apiVersion: v1\nkind: {kind}\nmetadata: {{}}\nitems:\n"
    text += item(without_kind(pod("{privileged: true}", "hidden")))
    answer = pipe(text, NO_PRIVILEGE)
    assert answer.status == DENIED
    assert "v1/Pod hidden" in answer.said


def test_in_a_resource_list_an_element_without_a_kind_counts_in_a_list_only(wire: Wire) -> None:
    element = item(without_kind(pod("{privileged: true}", "hidden")))
    answer = function(wire, item("apiVersion: v1\nkind: PodList\nitems:\n" + element), NO_PRIVILEGE)
    assert answer.status == DENIED
    assert "v1/Pod hidden" in answer.said
    text = item("apiVersion: v1\nkind: Pod\nmetadata: {name: outer}\nitems:\n" + element)
    assert function(wire, text, NO_PRIVILEGE).status == 0


def test_the_results_of_kpt_are_no_list_of_objects(wire: Wire) -> None:
    text = """\
apiVersion: kpt.dev/v1
kind: FunctionResultList
metadata:
  name: fnresults
exitCode: 1
items:
- image: krm-fn
  exitCode: 1
  results:
  - {message: denied, severity: error}
"""
    answer = function(wire, item(text), NO_PODS)
    assert answer.status == 0
    assert item(text).encode() in answer.output
    stream = read_stream((HEAD + item(text)).encode())
    assert [element.head.kind for element in stream.items] == ["FunctionResultList"]


REFUSED = {
    "a map": "items: {a: b}\n",
    "a text": "items: x\n",
    "a boolean": "items: yes\n",
    "scalars": "items: [a]\n",
    "a null": "items: [null]\n",
    "lists": "items: [[]]\n",
    "a list in a list": "items: [{apiVersion: v1, kind: List, items: [{kind: Pod}]}]\n",
    "an empty list in a list": "items: [{apiVersion: v1, kind: ConfigMap, items: []}]\n",
    "a kind without apiVersion": "items: [{kind: Pod, metadata: {name: a}}]\n",
    "an apiVersion without kind": "items: [{apiVersion: v1, metadata: {name: a}}]\n",
    "an alias": "x: &i [{apiVersion: v1, kind: Pod}]\nitems: *i\n",
    "an alias as element": "x: &i {apiVersion: v1, kind: Pod}\nitems: [*i]\n",
    "a merge": "<<: {items: [{apiVersion: v1, kind: Pod}]}\n",
}


@pytest.mark.parametrize("items", REFUSED.values(), ids=REFUSED)
def test_items_that_kubectl_refuses_are_refused_with_their_place(pipe: Pipe, items: str) -> None:
    answer = pipe(BASE + items, ANYTHING)
    assert answer.status == UNREADABLE
    assert "line " in answer.said
    assert "document " in answer.said


def test_an_object_with_an_empty_list_is_itself(pipe: Pipe, wire: Wire) -> None:
    for empty in ("items: []\n", "items:\n", "items: null\n"):
        rule = reject("$.metadata.name", "m")
        assert pipe(BASE + empty, rule).status == DENIED
        assert function(wire, item(BASE + empty), rule).status == DENIED


def test_a_rule_does_not_change_an_object_through_the_one_around_it(pipe: Pipe, wire: Wire) -> None:
    rule = """\
apiVersion: api.kubemod.io/v1beta1
kind: ModRule
metadata: {name: set, namespace: kubemod-system}
spec:
  type: Patch
  targetNamespaceRegex: .*
  match: [{select: $.metadata.name, matchValue: m}]
  patch:
  - {op: replace, path: /items/0/spec/hostNetwork, value: "true"}
"""
    text = BASE + "items:\n" + item(pod("{}") + "  hostNetwork: false\n")
    answer = pipe(text, rule, "--object-form", "AsWritten")
    assert answer.status == UNREADABLE
    assert "objects of their own" in answer.said
    assert answer.output == b""


# ----------------------------------------------------------------------------------- keys and tags


@pytest.mark.parametrize(
    "key",
    ["Kind: Pod", "KIND: Pod", "APIVERSION: v1", "apiversion: v2", '"Kind": Pod', "? Kind\n: Pod",
     "!!str kInd: Pod", "&a Kind: Pod", "<<: {Kind: Pod}", "\u212aind: Pod", "apiVer\u017fion: v2"],
)  # fmt: skip
def test_kind_in_another_letter_case_is_refused(pipe: Pipe, wire: Wire, key: str) -> None:
    for text in (BASE + f"{key}\n", f"{key}\n" + BASE):
        answer = pipe(text, NO_PODS)
        assert answer.status == UNREADABLE
        assert "other readers do not" in answer.said
        assert function(wire, item(text), NO_PODS).status == 1


def test_kind_in_another_letter_case_is_refused_in_json(tmp_path: Path) -> None:
    (tmp_path / "rule.yaml").write_text(NO_PODS)
    for value in ({"Kind": "Pod"}, {"items": [{"apiVersion": "v1", "kind": "A", "KIND": "Pod"}]}):
        text = json.dumps({**yaml.safe_load(BASE), **value})
        rules = ["-r", str(tmp_path / "rule.yaml")]
        assert run_cli(["check", *rules, "-f", "-"], text.encode()) == UNREADABLE


@pytest.mark.parametrize("tag", ["! true", "! yes", "! null", "! 5"])
def test_a_tag_that_readers_take_differently_is_refused(pipe: Pipe, wire: Wire, tag: str) -> None:
    text = pod(f"{{privileged: {tag}}}")
    assert pipe(text, ANYTHING).status == UNREADABLE
    assert function(wire, item(text), ANYTHING).status == 1


TWICE = [
    "kind: Pod\n",
    '"kind": Pod\n',
    "metadata: {name: other}\n",
    "data: {a: b, a: c}\n",
    'data: {1: b, "1": c}\n',
    "data:\n  a: b\n  ? a\n  : c\n",
]


@pytest.mark.parametrize("more", TWICE)
def test_a_key_that_is_there_twice_is_refused(pipe: Pipe, wire: Wire, more: str) -> None:
    assert pipe(BASE + more, ANYTHING).status == UNREADABLE
    assert function(wire, item(BASE + more), ANYTHING).status == 1


@pytest.mark.parametrize("key", ["name", "namespace"])
def test_a_name_that_is_there_twice_is_refused_where_no_rule_reads_the_object(
    wire: Wire, key: str
) -> None:
    text = BASE + f"  {key}: kube-system\n  {key}: shop\n"
    assert function(wire, item(text), NO_PODS).status == 1


def test_a_line_that_helm_takes_for_a_new_document_is_refused(pipe: Pipe) -> None:
    text = BASE + "---metadata:\n  name: evil\n"
    answer = pipe(text, ANYTHING)
    assert answer.status == UNREADABLE
    assert "Helm starts a document there" in answer.said


BYTES = {
    "a NUL": BASE.encode() + b"data: {a: b\0c}\n",
    "UTF-16": BASE.encode("utf-16"),
    "UTF-16 without a mark": BASE.encode("utf-16-le"),
    "Latin-1": BASE.encode() + b"data: {a: \xe9}\n",
    "an anchor of another document": b"x: &a {}\n---\n" + BASE.encode() + b"data: *a\n",
    "a newer YAML": b"%YAML 1.2\n---\n" + BASE.encode(),
    "an escape that Go does not know": BASE.encode() + b'data: {a: "\\/"}\n',
    "a ResourceList among documents": HEAD.replace("items:\n", "items: []\n---\n").encode()
    + BASE.encode(),
}


@pytest.mark.parametrize("data", BYTES.values(), ids=BYTES)
def test_bytes_that_readers_take_differently_are_refused(
    data: bytes, wire: Wire, tmp_path: Path
) -> None:
    (tmp_path / "rule.yaml").write_text(ANYTHING)
    rules = ["-r", str(tmp_path / "rule.yaml")]
    assert run_cli(["check", *rules, "-f", "-"], data) == UNREADABLE


# --------------------------------------------------------------------------- every place that reads

CONFLICT = BASE + "<<: {kind: Pod}\n"


def test_every_place_that_reads_refuses_the_same(
    wire: Wire, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files, folders, rules, a configuration, old objects, Argo CD's folder, an image's rules."""
    monkeypatch.chdir(tmp_path)
    Path("bad.yaml").write_text(CONFLICT)
    Path("good.yaml").write_text(BASE)
    Path("rule.yaml").write_text(ANYTHING)
    Path("folder").mkdir()
    Path("folder/bad.yaml").write_text(CONFLICT)
    config = "apiVersion: krm-fn.dev/v1alpha1\nkind: Admission\nmetadata: {name: a}\n"
    Path("config.yaml").write_text(config + "spec: {<<: {strict: true}, strict: false}\n")
    Path("bad-config.yaml").write_text(config + "spec: {strict: false, <<: {strict: true}}\n")
    old = "spec: {context: {operation: UPDATE, oldObjects: {paths: [bad.yaml]}}}\n"
    Path("old.yaml").write_text(config + old)
    rules = ["-r", "rule.yaml"]
    assert run_cli(["check", *rules, "-f", "good.yaml", "--config", "config.yaml"]) == 0
    for arguments in (
        [*rules, "-f", "bad.yaml"],
        [*rules, "-f", "folder"],
        ["-r", "bad.yaml", "-f", "good.yaml"],
        ["-r", "rule.yaml", "-r", "folder", "-f", "good.yaml"],
        [*rules, "-f", "good.yaml", "--config", "bad-config.yaml"],
        [*rules, "-f", "good.yaml", "--config", "old.yaml"],
    ):
        assert run_cli(["check", *arguments]) in (2, UNREADABLE), arguments
    done = run((HEAD + item(BASE) + CONFIG + ANYTHING).encode(), {})
    indented = "".join(f"        {line}\n" for line in ANYTHING.splitlines())
    text = (HEAD + item(BASE) + CONFIG + indented).encode()
    done = run(text, {"KRM_FN_IMAGE_RULES": str(tmp_path / "folder")})
    assert done.status == 1
    monkeypatch.chdir(tmp_path / "folder")
    assert run_cli(["cmp", "generate", "-r", str(tmp_path / "rule.yaml")]) != 0


def test_a_pod_in_a_file_called_kustomization_is_admitted(
    wire: Wire, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """kubectl applies every file of a folder, whatever it is called."""
    monkeypatch.chdir(tmp_path)
    Path("rule.yaml").write_text(NO_PODS)
    Path("m").mkdir()
    Path("m/web.yaml").write_text(BASE)
    Path("m/kustomization.yaml").write_text("resources: [web.yaml]\n")
    assert run_cli(["check", "-r", "rule.yaml", "-f", "m"]) == 0
    kustomization = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n"
    for text in (pod("{}"), kustomization + "items:\n" + item(pod("{}"))):
        Path("m/kustomization.yaml").write_text(text)
        assert run_cli(["check", "-r", "rule.yaml", "-f", "m"]) == DENIED


# ---------------------------------------------------------------- directories


POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: x}\n"
HIDING = {
    "another encoding": POD.encode("utf-16"),
    "a byte behind it": f"{POD}---\n\0\n".encode(),
    "a line that only Helm splits at": f"---x: y\n{POD}".encode(),
    "an escaped key": b'"\\x61piVersion": v1\nkind: Pod\nmetadata: {name: x}\n? [\n',
    "a key in base64": b"!!binary YXBpVmVyc2lvbg==: v1\nkind: Pod\nmetadata: {name: x}\n? [\n",
    "no version": b"kind: Pod\nmetadata: {name: x}\n? [\n",
    "a key in another case": b"ApiVersion: v1\nKind: Pod\nmetadata: {name: x}\n",
    "half a head": b"kind: Pod\nmetadata: {name: x}\n",
    "an object in a list without a head": b"kind: List\nitems:\n- apiVersion: v1\n  kind: Pod\n",
}


@pytest.mark.parametrize("how", HIDING)
def test_nobody_hides_a_manifest_in_a_directory_by_making_it_hard_to_read(
    how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rules.yaml").write_text(NO_PODS)
    Path("m").mkdir()
    Path("m/values.yaml").write_text("replicas: 2\n")
    Path("m/x.yaml").write_bytes(HIDING[how])
    assert run_cli(["check", "-f", "m", "-r", "rules.yaml"]) in (1, 4)
    assert capfd.readouterr().err.startswith("error ")


def test_what_an_author_leaves_out_is_told_and_the_operator_reads_it_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rules.yaml").write_text(NO_PODS)
    Path("m/templates").mkdir(parents=True)
    Path("m/x.yaml").write_text(POD)
    Path("m/.krmignore").write_text("x.yaml\n")
    assert run_cli(["check", "-f", "m", "-r", "rules.yaml"]) == 0
    assert "skipped 1 file named in .krmignore: m/x.yaml" in capfd.readouterr().err
    assert run_cli(["check", "-f", "m", "-r", "rules.yaml", "--strict-files"]) == 1
    Path("m/.krmignore").unlink()
    Path("m/x.yaml").rename("m/templates/x.yaml")
    Path("m/Chart.yaml").write_text("apiVersion: v2\nname: m\n")
    assert run_cli(["check", "-f", "m", "-r", "rules.yaml"]) == 0
    assert "warning: m/ is a Helm chart" in capfd.readouterr().err
    strict = ["check", "-f", "m", "-r", "rules.yaml", "--strict-files", "--exclude", "Chart.yaml"]
    assert run_cli(strict) == 1
