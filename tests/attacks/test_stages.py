"""Strictness (docs/trust.md, section 3): rules of different owners run as stages.

What an author brings (rules among the items, an Application's parameter, a functionConfig before an
image) acts before the operator's rules and never on what these decide.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from krm_fn.run.function import run

Json = dict[str, Any]

POD: Json = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "web", "namespace": "shop"},
    "spec": {"containers": [{"name": "app", "image": "app:1"}]},
}
REJECT_PODS = """\
apiVersion: api.kubemod.io/v1beta1
kind: ModRule
metadata: {name: no-pods, namespace: kubemod-system}
spec:
  type: Reject
  targetNamespaceRegex: .*
  rejectMessage: no Pods here
  match: [{select: $.kind, matchValue: Pod}]
"""


def label(name: str, text: str, kind: str = "Pod") -> str:
    return f"""\
apiVersion: api.kubemod.io/v1beta1
kind: ModRule
metadata: {{name: {name}, namespace: kubemod-system}}
spec:
  type: Patch
  targetNamespaceRegex: .*
  match: [{{select: $.kind, matchValue: {kind}}}]
  patch: [{{op: add, path: /metadata/labels/team, value: {text}}}]
"""


ONLY_OPS = """\
apiVersion: api.kubemod.io/v1beta1
kind: ModRule
metadata: {name: only-ops, namespace: kubemod-system}
spec:
  type: Reject
  targetNamespaceRegex: .*
  rejectMessage: not of ops
  match:
  - {select: $.kind, matchValue: Pod}
  - {select: $.metadata.labels.team, matchValue: ops, negate: true}
"""


@pytest.fixture
def image(tmp_path: Path) -> Path:
    folder = tmp_path / "image"
    folder.mkdir()
    (folder / "deny.yaml").write_text(REJECT_PODS)
    return folder


def function(image: Path, config: Json | None, *items: Json) -> tuple[int, str, Json]:
    resource_list: Json = {
        "apiVersion": "config.kubernetes.io/v1",
        "kind": "ResourceList",
        "items": list(items),
    }
    if config is not None:
        resource_list["functionConfig"] = config
    done = run(json.dumps(resource_list).encode(), {"KRM_FN_IMAGE_RULES": str(image)})
    return done.status, done.stderr, json.loads(done.stdout or b"{}")


def admission(**spec: Any) -> Json:
    return {
        "apiVersion": "krm-fn.dev/v1alpha1",
        "kind": "Admission",
        "metadata": {"name": "c"},
        "spec": spec,
    }


WEAKER: dict[str, Json] = {
    "mode: Audit": {"mode": "Audit"},
    "mode: Validate": {"mode": "Validate"},
    "onReject: Warn": {"onReject": "Warn"},
    "match.exclude": {"match": {"exclude": [{"kind": "Pod"}]}},
    "match.include": {"match": {"include": [{"kind": "Service"}]}},
    "match.localConfig": {"match": {"localConfig": "Skip"}},
    "objectForm": {"objectForm": "AsWritten"},
    "ignoredNamespaces": {"modRules": {"ignoredNamespaces": ["shop"]}},
    "targetResources": {"modRules": {"clusterRulesNamespace": "elsewhere"}},
    "operation": {"context": {"operation": "UPDATE"}},
    "onRuleError": {"onRuleError": "Warn"},
    "an exempt namespace": {
        "context": {
            "namespaces": [{"name": "shop", "labels": {"admission.kubemod.io/ignore": "true"}}]
        }
    },
}


@pytest.mark.parametrize("spec", WEAKER.values(), ids=WEAKER)
def test_no_function_config_makes_the_images_rules_weaker(spec: Json, image: Path) -> None:
    status, stderr, _ = function(image, admission(**spec), POD)
    assert status == 1
    assert "no Pods here" in stderr


def test_dropping_what_the_image_denies_is_not_the_authors_to_say(image: Path) -> None:
    config = admission(onReject="Drop", onEmpty="Allow")
    status, _, answer = function(image, config, POD)
    assert status == 1
    assert answer["items"] == [POD]


def test_a_rule_of_the_author_does_not_undo_what_the_images_rule_patched(image: Path) -> None:
    (image / "deny.yaml").write_text(label("team", "ops"))
    config = admission(rules=[{"inline": label("zz-last", "mine")}])
    status, _, answer = function(image, config, POD)
    assert status == 0
    assert answer["items"][0]["metadata"]["labels"] == {"team": "ops"}


def test_the_images_rules_see_what_the_authors_rules_made(image: Path) -> None:
    (image / "deny.yaml").write_text(ONLY_OPS)
    accepted = admission(rules=[{"inline": label("team", "ops")}])
    refused = admission(rules=[{"inline": label("team", "mine")}])
    assert function(image, accepted, POD)[0] == 0
    assert function(image, refused, POD)[0] == 1


def test_a_rule_of_the_images_name_does_not_stand_for_it(image: Path) -> None:
    other = REJECT_PODS.replace("matchValue: Pod", "matchValue: Node")
    status, stderr, _ = function(image, admission(rules=[{"inline": other}]), POD)
    assert (status, "no Pods here" in stderr) == (1, True)


def test_the_same_rule_counts_once_and_in_the_images_stage(image: Path) -> None:
    config = admission(mode="Audit", rules=[{"inline": REJECT_PODS}])
    status, stderr, _ = function(image, config, POD)
    assert status == 1
    assert stderr.count("no Pods here") == 1
    assert "(1 rule)" in stderr


def test_rules_among_the_items_run_before_the_images(image: Path) -> None:
    (image / "deny.yaml").write_text(label("team", "ops"))
    mine = yaml.safe_load(label("zz-last", "mine"))
    status, _, answer = function(image, None, POD, mine)
    assert status == 0
    assert answer["items"][0]["metadata"]["labels"] == {"team": "ops"}


def test_the_images_own_admission_says_how_its_rules_are_meant(image: Path) -> None:
    (image / "admission.yaml").write_text(yaml.safe_dump(admission(onReject="Warn")))
    status, stderr, _ = function(image, None, POD)
    assert status == 0
    assert "warning" in stderr
    assert "no Pods here" in stderr


def test_an_image_has_one_admission_and_no_other_sources(image: Path) -> None:
    (image / "a.yaml").write_text(yaml.safe_dump(admission(rules=[{"paths": ["x"]}])))
    status, stderr, answer = function(image, None, POD)
    assert (status, answer) == (1, {})
    assert "spec.rules: the rules of an image are the files in" in stderr
    (image / "b.yaml").write_text(yaml.safe_dump(admission()))
    assert "holds two Admissions" in function(image, None, POD)[1]


def test_an_object_does_not_hide_as_the_function_config(image: Path) -> None:
    (image / "deny.yaml").write_text(
        REJECT_PODS.replace("matchValue: Pod", "matchValue: ConfigMap")
    )
    config: Json = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "x", "namespace": "shop"},
        "data": {"onReject": "Warn"},
    }
    status, stderr, _ = function(image, config, config)
    assert (status, "no Pods here" in stderr) == (1, True)
    config["data"] = {"r.yaml": label("a", "b")}
    assert function(image, config, config)[0] == 1


def test_a_denial_of_the_images_is_told_whatever_the_limit_of_results(image: Path) -> None:
    status, stderr, answer = function(image, admission(results={"limit": 0}), POD)
    assert status == 1
    assert "no Pods here" in stderr
    assert any("no Pods here" in result["message"] for result in answer["results"])


# ------------------------------------------------------------------------------ the command line


def command(
    *arguments: str, cwd: Path, stdin: str | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "krm_fn", *arguments],
        cwd=cwd,
        env={**os.environ, **environment},
        input=stdin,
        stdin=subprocess.DEVNULL if stdin is None else None,
        capture_output=True,
        text=True,
        check=False,
    )


COMMANDS = {
    "a pipe": [],
    "apply": ["apply", "-f", "-"],
    "check": ["check", "-f", "-"],
    "a mode": ["apply", "-f", "-", "--mode", "Audit"],
    "a rejection that warns": ["check", "-f", "-", "--on-reject", "Warn"],
}


@pytest.mark.parametrize("arguments", COMMANDS.values(), ids=COMMANDS)
def test_the_images_rules_hold_on_the_command_line(
    arguments: list[str], image: Path, tmp_path: Path
) -> None:
    done = command(
        *arguments, cwd=tmp_path, stdin=yaml.safe_dump(POD), KRM_FN_IMAGE_RULES=str(image)
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert "no Pods here" in done.stderr


def test_a_check_shows_each_stage_what_the_one_before_did(image: Path, tmp_path: Path) -> None:
    (image / "deny.yaml").write_text(ONLY_OPS)
    (tmp_path / "mine.yaml").write_text(label("team", "ops"))
    done = command(
        "check",
        "-r",
        "mine.yaml",
        cwd=tmp_path,
        stdin=yaml.safe_dump(POD),
        KRM_FN_IMAGE_RULES=str(image),
    )
    assert done.returncode == 0, done.stderr


# --------------------------------------------------------------------------------------- Argo CD


def test_an_applications_rules_do_not_undo_the_plugins(tmp_path: Path) -> None:
    author = tmp_path / "author"
    author.mkdir()
    (author / "web.yaml").write_text(yaml.safe_dump(POD))
    (author / "own").mkdir()
    (author / "own" / "r.yaml").write_text(label("zz-last", "mine"))
    operator = tmp_path / "operator.yaml"
    operator.write_text(label("team", "ops"))
    parameters = json.dumps([{"name": "rules", "array": ["own"]}])
    done = command(
        "cmp", "generate", "-r", str(operator), cwd=author, ARGOCD_APP_PARAMETERS=parameters
    )
    assert done.returncode == 0, done.stderr
    assert yaml.safe_load(done.stdout)["metadata"]["labels"] == {"team": "ops"}


# ---------------------------------------------------------------------------------- local-config


LOCAL = {**POD, "metadata": {**POD["metadata"]}}
LOCAL["metadata"]["annotations"] = {"config.kubernetes.io/local-config": "true"}


@pytest.mark.parametrize("arguments", [[], ["check"], ["apply", "-f", "web.yaml"]])
def test_local_config_hides_nothing_where_nobody_drops_it(
    arguments: list[str], tmp_path: Path
) -> None:
    (tmp_path / "web.yaml").write_text(yaml.safe_dump(LOCAL))
    (tmp_path / "r.yaml").write_text(REJECT_PODS)
    rules = ["-r", "r.yaml"] if arguments else []
    text = yaml.safe_dump_all([LOCAL, yaml.safe_load(REJECT_PODS)])
    done = command(*arguments, *rules, cwd=tmp_path, stdin=text)
    assert done.returncode == 1
    assert "no Pods here" in done.stderr


def test_kpt_and_kustomize_drop_it_and_so_it_is_left_alone_and_counted(tmp_path: Path) -> None:
    (tmp_path / "rules").mkdir()
    config = admission(rules=[{"inline": REJECT_PODS}])
    resource_list = {
        "apiVersion": "config.kubernetes.io/v1",
        "kind": "ResourceList",
        "functionConfig": config,
        "items": [LOCAL],
    }
    done = run(json.dumps(resource_list).encode(), {})
    assert done.status == 0
    (result,) = json.loads(done.stdout)["results"]
    assert result["severity"] == "info"
    assert "Pod web" in result["message"]
    assert "match.localConfig: Admit" in result["message"]


def test_an_operator_may_have_it_admitted_there_too() -> None:
    config = admission(rules=[{"inline": REJECT_PODS}], match={"localConfig": "Admit"})
    resource_list = {
        "apiVersion": "config.kubernetes.io/v1",
        "kind": "ResourceList",
        "functionConfig": config,
        "items": [LOCAL],
    }
    assert run(json.dumps(resource_list).encode(), {}).status == 1
