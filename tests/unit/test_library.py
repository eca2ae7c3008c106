"""krm-fn as a library: what goes in, what comes out, what is wrong and where."""

from __future__ import annotations

import copy
import doctest
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import krm_fn
from krm_fn import ConfigError, InputError, Outcome, RuleError

ROOT = Path(__file__).resolve().parents[2]
POD: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "web", "namespace": "shop"},
    "spec": {"containers": [{"name": "web", "image": "nginx"}]},
}
DATABASE = {**POD, "metadata": {"name": "db", "namespace": "shop"}}
LABEL = """\
apiVersion: api.kubemod.io/v1beta1
kind: ModRule
metadata: {name: label, namespace: shop}
spec:
  type: Patch
  match: [{select: $.kind, matchValue: Pod}]
  patch: [{op: add, path: /metadata/labels/team, value: checkout}]
"""
REJECT = """\
apiVersion: api.kubemod.io/v1beta1
kind: ModRule
metadata: {name: no-databases, namespace: shop}
spec:
  type: Reject
  rejectMessage: no databases
  match: [{select: $.metadata.name, matchValue: db}]
"""
LABEL_RULE: dict[str, Any] = {
    "apiVersion": "api.kubemod.io/v1beta1",
    "kind": "ModRule",
    "metadata": {"name": "label", "namespace": "shop"},
    "spec": {
        "type": "Patch",
        "match": [{"select": "$.kind", "matchValue": "Pod"}],
        "patch": [{"op": "add", "path": "/metadata/labels/team", "value": "checkout"}],
    },
}
YAML = "apiVersion: v1\nkind: Pod\nmetadata: {name: web, namespace: shop} # here\nspec: {}\n"


def labelled(report: krm_fn.Report) -> list[bool]:
    return [krm_fn_labels(entry) == {"team": "checkout"} for entry in report]


def krm_fn_labels(entry: krm_fn.ObjectReport) -> Any:
    return entry.object["metadata"].get("labels")


# ----------------------------------------------------------------------------------- what goes in


def files(tmp_path: Path) -> tuple[Path, Path]:
    for name, text in (("m/pod.yaml", YAML), ("m/sub/pod.yaml", YAML), ("r/rule.yaml", LABEL)):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return tmp_path / "m", tmp_path / "r"


def test_objects_are_mappings_texts_and_paths(tmp_path: Path) -> None:
    manifests, rules = files(tmp_path)
    documents = f"{YAML}---\n{YAML.replace('web', 'api')}"
    assert labelled(krm_fn.admit(POD, LABEL)) == [True]
    assert labelled(krm_fn.admit([POD, DATABASE], [LABEL])) == [True, True]
    assert labelled(krm_fn.admit(documents, LABEL_RULE)) == [True, True]
    assert labelled(krm_fn.admit(YAML.encode(), [LABEL.encode()])) == [True]
    assert labelled(krm_fn.admit(manifests, rules)) == [True, True]
    mixed = [POD, YAML, manifests / "pod.yaml"]
    assert labelled(krm_fn.admit(iter(mixed), (rule for rule in [rules]))) == [True] * 3


def test_without_rules_those_among_the_objects_count() -> None:
    report = krm_fn.admit([POD, LABEL])
    assert [(e.head.kind, e.outcome) for e in report] == [
        ("Pod", Outcome.CHANGED),
        ("ModRule", Outcome.UNCHANGED),
    ]


def test_what_is_given_is_not_changed() -> None:
    pod, rule = copy.deepcopy(POD), copy.deepcopy(LABEL_RULE)
    krm_fn.admit(pod, rule)
    assert (pod, rule) == (POD, LABEL_RULE)


def test_objects_without_a_namespace_are_admitted_in_the_one_that_is_named() -> None:
    pod = {**POD, "metadata": {"name": "web"}}
    (entry,) = krm_fn.admit(pod, LABEL, namespace="shop")
    assert (entry.namespace, entry.outcome) == ("shop", Outcome.CHANGED)
    assert "namespace" not in entry.object["metadata"]


def test_a_list_is_looked_into() -> None:
    listed = {"apiVersion": "v1", "kind": "List", "items": [POD, DATABASE]}
    report = krm_fn.admit(listed, [LABEL, REJECT])
    assert [entry.denied for entry in report] == [False, True]


# ---------------------------------------------------------------------------------- what comes out


def test_every_object_has_an_entry_in_order() -> None:
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}}
    report = krm_fn.admit([DATABASE, service, POD], [LABEL, REJECT])
    assert [(e.head.name, e.denied, e.outcome) for e in report] == [
        ("db", True, Outcome.REJECTED),
        ("s", False, Outcome.UNCHANGED),
        ("web", False, Outcome.CHANGED),
    ]
    denied, _, changed = report
    assert report.denied
    assert [finding.message for finding in denied.findings] == ["no databases"]
    assert denied.object == DATABASE
    (change,) = changed.changes
    assert (change.path, change.new) == (("metadata", "labels"), {"team": "checkout"})
    assert str(change.rules[0]) == "ModRule shop/label"


def test_the_texts_leave_with_the_changes_and_the_comments() -> None:
    text = krm_fn.admit([YAML, POD], LABEL).to_yaml()
    first, second = text.split("---\n")
    assert first == YAML.replace("shop}", "shop, labels: {team: checkout}}")
    assert second.startswith("apiVersion: v1\nkind: Pod\n")


def test_a_report_reads_as_the_command_line_and_hides_secrets() -> None:
    secret = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "db", "namespace": "shop"},
        "stringData": {"password": "swordfish-1234"},
    }
    rule = REJECT.replace("no databases", "'{{ .Target.stringData.password }}'")
    report = krm_fn.admit(secret, rule, object_form="AsWritten")
    (entry,) = report
    assert entry.findings[0].message == "swordfish-1234"
    assert "swordfish" not in str(report)
    assert str(report).endswith("1 object, 0 changed, 1 rejected, 0 warnings (1 rule)")


# ---------------------------------------------------------------------------------------- options


def test_options_have_the_names_of_the_configuration() -> None:
    audited = krm_fn.admit(DATABASE, [LABEL, REJECT], mode="Audit")
    assert not audited.denied
    dropped = krm_fn.admit([DATABASE, POD], REJECT, on_reject="Drop")
    assert [entry.outcome for entry in dropped] == [Outcome.DROPPED, Outcome.UNCHANGED]
    assert "db" not in dropped.to_yaml()
    assert krm_fn.admit(POD, LABEL, onReject="Warn", context={"kubernetesVersion": "1.34"})


def test_a_configuration_is_a_mapping_a_text_or_a_file(tmp_path: Path) -> None:
    value = {"apiVersion": "krm-fn.dev/v1alpha1", "kind": "Admission", "spec": {"mode": "Audit"}}
    text = "apiVersion: krm-fn.dev/v1alpha1\nkind: Admission\nspec: {mode: Audit}\n"
    file = tmp_path / "admission.yaml"
    file.write_text(text.replace("mode: Audit", "mode: Audit, rules: [{paths: [rules.yaml]}]"))
    (tmp_path / "rules.yaml").write_text(REJECT)
    for config in (value, text):
        assert not krm_fn.admit(DATABASE, REJECT, config=config).denied
        assert krm_fn.admit(DATABASE, REJECT, config=config, mode="Mutate").denied
    report = krm_fn.admit(DATABASE, config=file)
    assert str(report).startswith("warning v1/Pod shop/db: no databases")


# -------------------------------------------------------------------------------- what is wrong


def place(**given: Any) -> str:
    given = {"objects": POD, "rules": LABEL, **given}
    with pytest.raises(krm_fn.KrmFnError) as caught:
        krm_fn.admit(**given)
    return "\n".join(caught.value.lines())


WRONG_RULE = {**LABEL_RULE, "spec": {**LABEL_RULE["spec"], "type": "Patsch"}}
NO_KIND = {"apiVersion": "v1"}


def test_a_place_is_the_callers_own(tmp_path: Path) -> None:
    file = tmp_path / "rule.yaml"
    file.write_text(LABEL.replace("Patch", "Patsch"))
    assert place(rules=WRONG_RULE).startswith("error rules: ModRule shop/label: spec.type")
    assert place(rules=[REJECT, WRONG_RULE]).startswith("error rules[1]: ModRule shop/label: ")
    assert place(rules=LABEL.replace("Patch", "Patsch")).startswith("error rules:5: ModRule")
    assert place(rules=[REJECT, LABEL.replace("Patch", "Patsch")]).startswith("error rules[1]:5: ")
    assert place(rules=file).startswith(f"error {file}:5: ")
    assert place(objects=[POD, NO_KIND]).startswith("error objects[1]: ")
    assert place(objects=[POD, "kind: x"]).startswith("error objects[1]:1: ")
    assert place(objects={**POD, "x": {1}}) == "error objects: a set cannot stand in an object"


def test_the_place_of_a_finding_is_the_objects_own(tmp_path: Path) -> None:
    manifests, _ = files(tmp_path)
    report = krm_fn.admit([POD, DATABASE], [REJECT])
    assert "[objects[1]]" in str(report)
    report = krm_fn.admit(manifests, REJECT.replace("db", "web"))
    assert f"[{manifests / 'pod.yaml'}:1]" in str(report)


def test_rules_inside_a_configuration_are_of_its_file(tmp_path: Path) -> None:
    inline = "".join(f"      {line}\n" for line in LABEL.replace("Patch", "Patsch").splitlines())
    file = tmp_path / "admission.yaml"
    file.write_text(
        "apiVersion: krm-fn.dev/v1alpha1\nkind: Admission\nspec:\n  rules:\n"
        f"  - inline: |\n{inline}"
    )
    assert place(rules=(), config=file).startswith(f"error {file} spec.rules[0].inline:5: ")


SENTENCES: dict[str, tuple[dict[str, Any], type[Exception], str]] = {
    "a path as text": (
        {"objects": "manifests/"},
        InputError,
        "a str is YAML or JSON text; give a path as pathlib.Path",
    ),
    "no object": (
        {"objects": 5},
        InputError,
        "objects: what is of type int is neither a mapping, a text nor a path",
    ),
    "no rule": (
        {"rules": [None]},
        ConfigError,
        "rules[0]: what is of type NoneType is neither a mapping, a text nor a path",
    ),
    "no rules": ({"rules": ()}, ConfigError, "no rule anywhere: give some as rules"),
    "objects as rules": ({"rules": POD}, ConfigError, "rules holds no rule"),
    "a missing path": ({"objects": Path("/nope")}, InputError, "/nope does not exist"),
    "a missing rule": ({"rules": Path("/nope")}, ConfigError, "/nope does not exist"),
    "an unknown option": (
        {"on_rejct": "Warn"},
        ConfigError,
        "options: onRejct: unknown field; did you mean onReject?",
    ),
    "a wrong option": ({"mode": "Mutat"}, ConfigError, "options: mode: 'Mutat' is not one of"),
    "a timeout": (
        {"limits": {"timeout": "3s"}},
        ConfigError,
        "limits.timeout ends a process, which a library must not do",
    ),
    "no configuration": ({"config": POD}, ConfigError, "config: kind Pod of v1 is not known"),
    "two configurations": (
        {"config": f"{YAML}---\n{YAML}"},
        ConfigError,
        "config must be one Admission and nothing else",
    ),
    "a rule that does not compile": (
        {"rules": LABEL.replace("$.kind", "$.")},
        RuleError,
        "rules:6: ModRule shop/label: spec.match[0].select",
    ),
}


@pytest.mark.parametrize(("given", "kind", "text"), SENTENCES.values(), ids=SENTENCES)
def test_what_is_wrong_is_one_sentence(
    given: dict[str, Any], kind: type[Exception], text: str
) -> None:
    with pytest.raises(krm_fn.KrmFnError) as caught:
        krm_fn.admit(**{"objects": POD, "rules": LABEL, **given})
    assert isinstance(caught.value, kind)
    assert text in "\n".join(caught.value.lines())


def test_runs_in_threads_do_not_meet() -> None:
    deep: Any = {}
    for _ in range(900):
        deep = {"a": deep}
    pod = {**POD, "spec": deep}
    with ThreadPoolExecutor(8) as pool:
        reports = pool.map(lambda _: krm_fn.admit(pod, LABEL, object_form="AsWritten"), range(40))
        assert all(labelled(report) == [True] for report in reports)


# ---------------------------------------------------------------------------------------- the face


def test_importing_the_package_loads_nothing() -> None:
    program = "import sys, krm_fn; print(*(m for m in sys.modules if m.startswith('krm_fn.')))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert done.stdout.split() == []


def test_every_name_of_the_face_is_there() -> None:
    for name in krm_fn.__all__:
        assert getattr(krm_fn, name) is not None
        assert name in dir(krm_fn)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        krm_fn.nothing  # noqa: B018


def test_the_types_of_the_face_are_known() -> None:
    """What type checkers see is what is loaded."""
    source = (ROOT / "krm_fn" / "__init__.py").read_text()
    known = set(re.findall(r"^    from \S+ import (\w+) as \1$", source, re.MULTILINE))
    assert known | {"__version__"} == set(krm_fn.__all__)


# -------------------------------------------------------------------------------------------- docs


def blocks(page: str, language: str) -> list[str]:
    text = (ROOT / "docs" / page).read_text()
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize(("page", "least"), [("library.md", 8), ("cel.md", 12), ("explain.md", 6)])
def test_the_sessions_of_a_page_answer_as_they_say(
    page: str, least: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    text = "\n".join(blocks(page, "pycon"))
    names = {"krm_fn": krm_fn}
    session = doctest.DocTestParser().get_doctest(text, names, page, page, 0)
    report: list[str] = []
    failed, tried = doctest.DocTestRunner(verbose=False).run(session, out=report.append)
    assert tried >= least
    assert failed == 0, "".join(report)


def test_the_five_lines_of_the_page_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (program,) = blocks("library.md", "python")
    monkeypatch.chdir(tmp_path)
    for folder, text in (("manifests", YAML.replace("web", "db")), ("rules", REJECT)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.yaml").write_text(text)
    exec(program, {})
    assert capsys.readouterr().out == "v1/Pod shop/db True ['no databases']\n"
