"""The KRM function as a whole: what comes in, what goes out, the exit status, what is said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from krm_fn.run.function import Done, run
from krm_fn.values import get
from krm_fn.wire import read_stream

LIST = """\
apiVersion: config.kubernetes.io/v1
kind: ResourceList
items:
# the settings
- apiVersion: v1
  kind: ConfigMap
  metadata:
    name: a   # its name
    namespace: web
    annotations:
      internal.config.kubernetes.io/path: 'a.yaml'
      internal.config.kubernetes.io/index: '1'
  data:
    x: "1"

- apiVersion: v1
  kind: Service
  metadata: {name: s, namespace: web}
"""
LABEL = """\
apiVersion: api.kubemod.io/v1beta1
kind: ModRule
metadata: {name: label, namespace: web}
spec:
  type: Patch
  match:
  - select: $.kind
    matchValue: ConfigMap
  patch:
  - op: add
    path: /metadata/labels/x
    value: done
"""
REFUSE = """\
apiVersion: api.kubemod.io/v1beta1
kind: ModRule
metadata: {name: refuse, namespace: web}
spec:
  type: Reject
  rejectMessage: no {{ .Target.metadata.name }}
  match:
  - select: $.kind
    matchValue: Service
"""


def with_config(rules: str = LABEL, spec: str = "", source: str = LIST) -> str:
    indented = "".join(f"        {line}\n" for line in rules.splitlines())
    options = "".join(f"    {line}\n" for line in spec.splitlines())
    return (
        f"{source}functionConfig:\n  apiVersion: krm-fn.dev/v1alpha1\n  kind: Admission\n"
        f"  spec:\n{options}    rules:\n    - inline: |\n{indented}"
    )


def function(text: str, **environment: str) -> Done:
    return run(text.encode(), environment)


def results(done: Done) -> list[dict[str, Any]]:
    """The results of the list that goes out, without those about changes."""
    text = done.stdout.decode()
    if "\nresults:\n" not in text:
        return []
    probe = "kind: Results\napiVersion: v1\nresults:\n" + text.split("\nresults:\n", 1)[1]
    values: list[dict[str, Any]] = read_stream(probe.encode()).items[0].value["results"]
    return values


def test_a_rule_that_matches_nothing_lets_every_byte_pass() -> None:
    source = with_config(LABEL.replace("ConfigMap", "Secret"))
    done = function(source)
    assert done.status == 0
    assert done.stdout.decode() == source


def test_only_the_lines_that_a_rule_changes_are_changed() -> None:
    done = function(with_config(spec="results: {changes: false}"))
    assert done.status == 0
    expected = with_config(spec="results: {changes: false}").replace(
        "      internal.config.kubernetes.io/index: '1'\n",
        "      internal.config.kubernetes.io/index: '1'\n    labels:\n      x: done\n",
    )
    assert done.stdout.decode() == expected
    assert done.stderr == "2 objects, 1 changed, 0 rejected, 0 warnings (1 rule)\n"


def test_a_change_is_a_result_with_field_file_and_rule() -> None:
    done = function(with_config())
    assert results(done) == [
        {
            "message": "metadata.labels added by ModRule web/label",
            "severity": "info",
            "resourceRef": {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "namespace": "web",
                "name": "a",
            },
            "field": {"path": "metadata.labels", "proposedValue": {"x": "done"}},
            "file": {"path": "a.yaml", "index": 1},
            "tags": {
                "rule": "ModRule web/label",
                "dialect": "modrule",
                "source": "functionConfig spec.rules[0].inline:1",
            },
        }
    ]


def test_a_rejection_is_exit_1_with_the_full_list_and_the_message_first() -> None:
    done = function(with_config(LABEL + "---\n" + REFUSE))
    assert done.status == 1
    assert done.stderr.startswith("error v1/Service web/s: no s (ModRule web/refuse) [items[1]]\n")
    assert len(read_stream(done.stdout).items) == 2
    assert results(done)[0]["severity"] == "error"


def test_under_warn_a_rejection_is_a_warning() -> None:
    done = function(with_config(REFUSE, "onReject: Warn"))
    assert done.status == 0
    assert done.stderr.startswith("warning v1/Service web/s: no s")


def test_under_drop_the_object_leaves_the_list() -> None:
    done = function(with_config(REFUSE, "onReject: Drop"))
    assert done.status == 0
    assert [item.head.kind for item in read_stream(done.stdout).items] == ["ConfigMap"]
    assert "dropped: no s" in done.stderr
    assert "1 dropped" in done.stderr


def test_dropping_everything_is_refused_unless_allowed() -> None:
    everything = REFUSE.replace("\n    matchValue: Service", "")
    done = function(with_config(everything, "onReject: Drop"))
    assert done.status == 1
    assert len(read_stream(done.stdout).items) == 2
    assert "set onEmpty: Allow" in done.stderr
    allowed = function(with_config(everything, "onReject: Drop\nonEmpty: Allow"))
    assert allowed.status == 0
    assert read_stream(allowed.stdout).items == []


@pytest.mark.parametrize(
    ("version", "kind"),
    [("v1", "Namespace"), ("apiextensions.k8s.io/v1", "CustomResourceDefinition")],
)
def test_some_kinds_are_never_dropped(version: str, kind: str) -> None:
    rule = REFUSE.replace("namespace: web", "namespace: kubemod-system").replace("Service", kind)
    source = LIST + f"- apiVersion: {version}\n  kind: {kind}\n  metadata: {{name: n}}\n"
    spec = "onReject: Drop\nmodRules: {targetResources: ['*']}"
    done = function(with_config(rule, spec, source))
    assert done.status == 1
    assert len(read_stream(done.stdout).items) == 3


def test_validate_runs_everything_and_discards_edits() -> None:
    source = with_config(LABEL, "mode: Validate\nresults: {changes: false}")
    done = function(source)
    assert done.status == 0
    assert done.stdout.decode() == source
    assert "1 changed" in done.stderr
    assert function(with_config(REFUSE, "mode: Validate")).status == 1


def test_audit_makes_denials_warnings() -> None:
    assert function(with_config(REFUSE, "mode: Audit")).status == 0


def test_a_kustomize_validator_answers_no_items() -> None:
    done = function(with_config(LABEL, "mode: Validate\nkustomizeValidator: true"))
    assert done.status == 0
    assert read_stream(done.stdout).items == []


def test_match_leaves_objects_out() -> None:
    done = function(with_config(REFUSE, "match: {exclude: [{kind: Service}]}"))
    assert done.status == 0
    assert done.stderr.startswith("1 object,")


def test_an_object_with_local_config_is_no_target() -> None:
    source = LIST.replace(
        "metadata: {name: s, namespace: web}",
        "metadata: {name: s, namespace: web, annotations: "
        '{config.kubernetes.io/local-config: "true"}}',
    )
    assert function(with_config(REFUSE, source=source)).status == 0


def test_results_of_an_earlier_function_are_replaced() -> None:
    source = with_config(LABEL.replace("ConfigMap", "Secret")) + "results:\n- message: old\n"
    assert "old" not in function(source).stdout.decode()


def test_results_are_limited_and_say_how_many_more_there_are() -> None:
    two = LABEL + "  - op: add\n    path: /data/y\n    value: z\n"
    found = results(function(with_config(two, "results: {limit: 1}")))
    assert [result["message"] for result in found][1] == "1 more changes"


def test_a_rule_that_never_had_a_candidate_says_so_once() -> None:
    done = function(with_config(LABEL.replace(", namespace: web", "")))
    assert done.status == 0
    assert (
        "ModRule label (no namespace: taken as default) did not see ConfigMap a; it is in "
        "web. Set metadata.namespace or context.defaultNamespace, or targetNamespaceRegex in "
        "kubemod-system."
    ) in done.stderr


def test_what_is_not_idempotent_is_a_warning_an_error_or_nothing() -> None:
    grows = LABEL.replace("/metadata/labels/x", "/metadata/finalizers/-1")
    for option, status, said in (("Warn", 0, "warning"), ("Fail", 1, "error"), ("'Off'", 0, "")):
        done = function(with_config(grows, f"idempotency: {option}"))
        assert done.status == status
        assert ("not idempotent" in done.stderr) is bool(said)
        assert done.stderr.startswith(said)


FAILS = LABEL.replace("op: add", "op: replace").replace("labels/x", "nothing/here")


@pytest.mark.parametrize(
    ("option", "status", "said"),
    [("Fail", 1, "error"), ("Warn", 0, "warning"), ("AsCluster", 0, "warning")],
)
def test_a_rule_that_fails_is_an_error_or_a_warning(option: str, status: int, said: str) -> None:
    done = function(with_config(FAILS, f"onRuleError: {option}"))
    assert done.status == status
    assert done.stderr.startswith(f"{said} v1/ConfigMap web/a: cannot be applied")


def test_values_of_secrets_do_not_leave_through_results_or_messages() -> None:
    source = LIST.replace("kind: Service", "kind: Secret").replace(
        "metadata: {name: s, namespace: web}",
        "metadata: {name: s, namespace: web}\n  data: {password: aHVudGVyMg==}",
    )
    leak = REFUSE.replace("Service", "Secret").replace(
        "no {{ .Target.metadata.name }}", "leaks {{ .Target.data.password }}"
    )
    change = (
        LABEL.replace("ConfigMap", "Secret")
        .replace("/metadata/labels/x", "/data/password")
        .replace("value: done", "value: c2VjcmV0")
    )
    rejected = function(with_config(leak, source=source))
    assert "leaks (redacted)" in rejected.stderr
    said = str(results(rejected)) + str(results(function(with_config(change, source=source))))
    assert "aHVudGVyMg==" not in said
    assert "c2VjcmV0" not in said
    assert "(redacted)" in said


def test_namespaces_are_admitted_first_and_then_seen_as_admitted() -> None:
    rules = """\
apiVersion: api.kubemod.io/v1beta1
kind: ModRule
metadata: {name: mark, namespace: kubemod-system}
spec:
  type: Patch
  match: [{select: $.kind, matchValue: Namespace}]
  patch: [{op: add, path: /metadata/labels/team, value: shop}]
---
apiVersion: api.kubemod.io/v1beta1
kind: ModRule
metadata: {name: copy, namespace: web}
spec:
  type: Patch
  match: [{select: $.kind, matchValue: ConfigMap}]
  patch:
  - op: add
    path: /data/team
    value: '{{ .Target.syntheticRefs.namespace.metadata.labels.team }}'
"""
    source = LIST + "- apiVersion: v1\n  kind: Namespace\n  metadata: {name: web}\n"
    done = function(with_config(rules, source=source))
    assert done.status == 0, done.stderr
    assert read_stream(done.stdout).items[0].value["data"]["team"] == "shop"


def test_what_is_not_known_of_a_namespace_is_told_once() -> None:
    reads = LABEL.replace("\n    matchValue: ConfigMap", "").replace(
        "value: done", "value: 'n{{ len .Target.syntheticRefs.namespace.metadata.labels }}'"
    )
    done = function(with_config(reads, "modRules: {targetResources: ['*']}"))
    assert done.status == 0, done.stderr
    assert done.stderr.count("syntheticRefs") == 1


def test_old_objects_make_an_update(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    old = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: web}\n"
    Path("old.yaml").write_text(old)
    rule = LABEL + "  admissionOperations: [UPDATE]\n"
    spec = "context: {operation: UPDATE, oldObjects: {paths: [old.yaml]}}"
    assert "1 changed" in function(with_config(rule, spec)).stderr
    created = function(with_config(rule, "context: {operation: UPDATE}"))
    assert "0 changed" in created.stderr


@pytest.mark.parametrize("path", ["/etc/passwd", "../old.yaml", "link.yaml"])
def test_old_objects_outside_the_tree_are_not_read(
    path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("link.yaml").symlink_to("/etc/passwd")
    done = function(
        with_config(spec=f"context: {{operation: UPDATE, oldObjects: {{paths: [{path}]}}}}")
    )
    assert (done.status, done.stdout) == (1, b"")
    assert done.stderr.startswith("error context.oldObjects.paths: ")


def test_rules_in_the_image_apply_without_a_function_config(tmp_path: Path) -> None:
    (tmp_path / "rule.yaml").write_text(LABEL)
    done = function(LIST, KRM_FN_IMAGE_RULES=str(tmp_path))
    assert done.status == 0, done.stderr
    assert "1 changed" in done.stderr


def test_a_config_map_of_kpt_configures_the_run() -> None:
    source = LIST + "- " + REFUSE.replace("\n", "\n  ").rstrip() + "\n"
    source += (
        "functionConfig:\n  apiVersion: v1\n  kind: ConfigMap\n"
        "  metadata: {name: function-input}\n  data: {onReject: Warn}\n"
    )
    assert function(source).status == 0


def test_an_item_that_no_rule_can_match_is_not_even_parsed_unless_strict() -> None:
    source = LIST.replace("kind: Service", "kind: Shop").replace(
        "metadata: {name: s, namespace: web}",
        "metadata: {name: s, namespace: web}\n  spec: {a: 1, a: 2}",
    )
    assert function(with_config(source=source)).status == 0
    strict = function(with_config(source=source, spec="strict: true"))
    assert strict.status == 1
    assert "'a' is there twice" in strict.stderr


RANDOM = LABEL.replace("value: done", "value: '{{ randAlpha 8 }}'")
NOW = LABEL.replace("value: done", """value: '{{ now | date "2006-01-02" | quote }}'""")


def test_what_is_random_is_refused_unless_a_seed_makes_it_the_same_every_time() -> None:
    refused = function(with_config(RANDOM))
    assert refused.status == 1
    assert "set modRules.seed" in refused.stderr
    seeded = with_config(RANDOM, "modRules: {seed: a}")
    first = function(seeded)
    assert first.status == 0, first.stderr
    assert "not idempotent" not in first.stderr
    assert function(seeded) == first
    other = function(with_config(RANDOM, "modRules: {seed: b}"))
    value = ("metadata", "labels", "x")
    texts = [get(read_stream(d.stdout).items[0].value, value) for d in (first, other)]
    assert len(set(texts)) == 2


def test_the_time_is_refused_unless_the_options_say_it() -> None:
    assert "set modRules.clock" in function(with_config(NOW)).stderr
    done = function(with_config(NOW, "modRules: {clock: '2026-01-31T12:00:00Z'}"))
    assert done.status == 0, done.stderr
    assert get(read_stream(done.stdout).items[0].value, ("metadata", "labels", "x")) == "2026-01-31"


# ------------------------------------------------------------------------------------ bad input

HEAD = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\n"
ITEM = "items:\n- apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: a, namespace: web}\n"
BAD: list[tuple[str, str, str]] = [
    ("no YAML", HEAD + "items: [\n", "standard input:4: not valid YAML"),
    ("a tab", HEAD + "items:\n\t- a\n", "indent with spaces"),
    ("items missing", HEAD, "the ResourceList has no items"),
    ("items null", HEAD + "items:\n", "items is null; it must be a list"),
    ("items a map", HEAD + "items: {}\n", "items is a map; it must be a list"),
    ("an item that is a string", HEAD + "items: [x]\n", "items[0] is a string"),
    ("an item without kind", HEAD + "items: [{apiVersion: v1}]\n", "items[0] has no kind"),
    ("another version", HEAD.replace("/v1", "/v9") + "items: []\n", "is not known; it is one of"),
    ("a functionConfig that is a list", HEAD + ITEM + "functionConfig: []\n", "functionConfig is"),
    (
        "duplicate keys",
        with_config(source=HEAD + ITEM + "  data: {a: '1', a: '2'}\n"),
        "standard input:7: v1/ConfigMap web/a: the key 'a' is there twice",
    ),
    (
        "an unknown alias",
        with_config(source=HEAD + ITEM + "  data: *x\n"),
        "standard input:7: unknown anchor referenced",
    ),
    (
        "deep nesting",
        with_config(source=HEAD + ITEM + f"  data: {'[' * 10_000}\n"),
        "nested deeper than 1000 levels",
    ),
    (
        "a billion laughs",
        with_config(
            source=HEAD
            + ITEM
            + "  a: &a [x,x,x,x,x,x,x,x,x,x]\n"
            + "".join(
                f"  {b}: &{b} [{','.join(['*' + a] * 10)}]\n"
                for a, b in zip("abcdefgh", "bcdefghi", strict=True)
            )
        ),
        "aliases expand to far more than what is written",
    ),
    ("a select", with_config(LABEL.replace("$.kind", "$.kind==i")), "put a space after =="),
    (
        "a regular expression",
        with_config(LABEL.replace("matchValue: ConfigMap", "matchRegex: '('")),
        "spec.match[0].matchRegex",
    ),
    (
        "a template",
        with_config(LABEL.replace("value: done", "value: '{{ toYaml . }}'")),
        "toJson",
    ),
    ("a tier", with_config(LABEL + "  executionTier: 99999\n"), "spec.executionTier"),
    ("a type", with_config(LABEL.replace("type: Patch", "type: Ptch")), "spec.type"),
    ("a number", with_config(LABEL.replace("value: done", "value: 8080")), "write '8080'"),
    ("an unknown field", with_config(spec="onRejct: Warn"), "did you mean onReject?"),
    ("no rules at all", HEAD + ITEM, "no rule anywhere"),
    (
        "a path that is not there",
        HEAD + ITEM + "functionConfig:\n  apiVersion: krm-fn.dev/v1alpha1\n  kind: Admission\n"
        "  spec: {rules: [{paths: [nowhere/]}]}\n",
        "nowhere/ does not exist (looked in",
    ),
]


@pytest.mark.parametrize(("text", "part"), [case[1:] for case in BAD], ids=[c[0] for c in BAD])
def test_bad_input_is_one_clear_sentence_and_nothing_on_stdout(text: str, part: str) -> None:
    done = function(text)
    assert done.status == 1
    assert done.stdout == b""
    assert done.stderr.startswith("error ")
    assert part in done.stderr
    assert "Traceback" not in done.stderr


def test_bytes_that_are_no_utf8_are_named_with_their_line() -> None:
    done = run(LIST.encode() + b"x: \xff\n", {})
    assert (done.status, done.stdout) == (1, b"")
    assert "not valid UTF-8: byte 0xff" in done.stderr


def test_all_that_is_wrong_with_the_rules_is_said_at_once() -> None:
    wrong = LABEL.replace("type: Patch", "type: X") + "---\n" + REFUSE.replace("$.kind", "$.")
    done = function(with_config(wrong))
    lines = [line for line in done.stderr.splitlines() if line.startswith("error ")]
    assert any("web/label" in line for line in lines)
    assert any("web/refuse" in line for line in lines)


def test_the_same_input_gives_the_same_bytes() -> None:
    source = with_config(LABEL + "---\n" + REFUSE, "onReject: Warn")
    assert function(source) == function(source)


# --------------------------------------------------------------------------------- the served form

WORKLOAD = """\
- apiVersion: apps/v1
  kind: Deployment
  metadata: {name: web, namespace: web}  # the shop
  spec:
    selector: {matchLabels: {app: web}}
    template:
      metadata: {labels: {app: web}}
      spec:
        containers:
        - name: web
          image: shop:1
          resources: {limits: {cpu: 1000m}}
"""
REPLICAS = """\
apiVersion: api.kubemod.io/v1beta1
kind: ModRule
metadata: {name: two, namespace: web}
spec:
  type: Patch
  match:
  - select: $.spec.replicas
    matchValue: "1"
  patch:
  - {op: replace, path: /spec/replicas, value: "2"}
"""
EMPTY_LIST = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n"


def test_rules_see_defaults_and_only_what_they_change_is_written() -> None:
    done = function(with_config(REPLICAS, source=EMPTY_LIST + WORKLOAD))
    assert done.status == 0, done.stderr
    written = done.stdout.decode().split("functionConfig")[0].split("results:")[0]
    expected = (EMPTY_LIST + WORKLOAD).replace("cpu: 1000m}}\n", "cpu: 1000m}}\n    replicas: 2\n")
    assert written == expected
    assert "spec.replicas added by ModRule web/two; before, 1 (default)" in done.stdout.decode()


def test_as_written_rules_see_the_file() -> None:
    done = function(with_config(REPLICAS, "objectForm: AsWritten", source=EMPTY_LIST + WORKLOAD))
    assert "0 changed" in done.stderr


def test_what_was_derived_before_a_rule_ran_is_kept_and_written() -> None:
    rule = REPLICAS.replace("/spec/replicas", "/spec/template/spec/containers/0/image").replace(
        'value: "2"', "value: 'shop:latest'"
    )
    done = function(with_config(rule, source=EMPTY_LIST + WORKLOAD))
    assert done.status == 0, done.stderr
    text = done.stdout.decode()
    assert "image: shop:latest" in text
    assert "imagePullPolicy: IfNotPresent" in text
    assert "imagePullPolicy added by ModRule web/two" in text


def test_removing_a_default_is_noted_and_writes_nothing() -> None:
    rule = REPLICAS.replace(
        '{op: replace, path: /spec/replicas, value: "2"}', "{op: remove, path: /spec/replicas}"
    )
    done = function(with_config(rule, source=EMPTY_LIST + WORKLOAD))
    assert "0 changed" in done.stderr
    assert "removing spec.replicas has no effect: the API server fills in 1 again" in (
        done.stdout.decode()
    )


def test_a_field_that_the_kind_does_not_have_is_dropped_with_a_warning() -> None:
    rule = REPLICAS.replace("/spec/replicas", "/spec/replica").replace("replace", "add")
    done = function(with_config(rule, source=EMPTY_LIST + WORKLOAD))
    assert "0 changed" in done.stderr
    assert "spec.replica has no effect: the API server drops it (ModRule web/two)" in done.stderr


def test_what_the_api_server_refuses_is_an_error_of_the_rule() -> None:
    rule = REPLICAS.replace('"2"', "'\"two\"'")
    done = function(with_config(rule, source=EMPTY_LIST + WORKLOAD))
    assert done.status == 1
    assert "the API server refuses the changed object: spec.replicas" in done.stderr


def test_unknown_fields_are_warnings_or_errors_if_strict() -> None:
    source = EMPTY_LIST + WORKLOAD.replace("selector:", "replica: 2\n    selector:")
    done = function(with_config(REPLICAS, source=source))
    assert done.status == 0
    assert "unknown field spec.replica; did you mean replicas?" in done.stderr
    other = REPLICAS.replace("$.spec.replicas", "$.kind").replace('"1"', "Pod")
    done = function(with_config(other, "strict: true", source=source))
    assert done.status == 1
    assert "unknown field spec.replica; did you mean replicas?" in done.stderr


def test_an_object_that_cannot_be_decoded_is_seen_as_written_with_a_warning() -> None:
    source = EMPTY_LIST + WORKLOAD.replace("selector:", "replicas: many\n    selector:")
    rule = REPLICAS.replace('"1"', "many")
    done = function(with_config(rule, source=source))
    assert done.status == 0, done.stderr
    assert "the API server refuses it, and rules see it as it is written" in done.stderr
    assert "1 changed" in done.stderr


def test_a_kind_that_nobody_described_is_seen_as_written_and_said_once() -> None:
    shop = "- {apiVersion: example.com/v1, kind: Shop, metadata: {name: %s, namespace: web}}\n"
    rule = LABEL.replace("ConfigMap", "Shop")
    source = EMPTY_LIST + shop % "a" + shop % "b"
    done = function(with_config(rule, "modRules: {targetResources: ['*']}", source=source))
    assert "2 changed" in done.stderr, done.stderr
    assert done.stdout.decode().count("nothing here says what a Shop") == 1


def test_templates_are_left_with_a_note_or_admitted_as_pods() -> None:
    rule = LABEL.replace("ConfigMap", "Pod").replace("labels", "annotations")
    source = EMPTY_LIST + WORKLOAD
    done = function(with_config(rule, source=source))
    assert "0 changed" in done.stderr
    assert "templates of Pods stay as they are (1: Deployment web)" in done.stdout.decode()
    done = function(with_config(rule, "podTemplates: Mutate", source=source))
    assert "1 changed" in done.stderr, done.stderr
    item = read_stream(done.stdout).items[0].value
    assert item["spec"]["template"]["metadata"]["annotations"] == {"x": "done"}
    assert function(done.stdout.decode()).status == 0


def test_previews_are_added_beside_what_stays_and_are_replaced_by_the_next_run() -> None:
    rule = LABEL.replace("ConfigMap", "Pod").replace("labels", "annotations")
    done = function(with_config(rule, "podTemplates: Preview", source=EMPTY_LIST + WORKLOAD))
    items = read_stream(done.stdout).items
    assert [item.head.name for item in items] == ["web", "web-deployment-pod"]
    assert items[1].value["metadata"]["annotations"]["x"] == "done"
    assert "annotations" not in items[0].value["spec"]["template"]["metadata"]
    again = read_stream(function(done.stdout.decode()).stdout).items
    assert [item.value for item in again] == [item.value for item in items]
