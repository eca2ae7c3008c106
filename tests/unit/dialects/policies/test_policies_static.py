"""Static policies: what an API server of 1.37 reads from files when it starts.

Source: KEP-5793; apiserver v0.37, pkg/admission/plugin/policy/manifest.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from policies_support import (
    GROUP,
    Json,
    apply,
    binding,
    config_map,
    mutating,
    validating,
)

from krm_fn.run.function import Done, run

NAME = "guard.static.k8s.io"
DENIES = validating({"expression": "false", "message": "no"}, name=NAME)
KEEPS = validating(
    {
        "expression": "object.metadata.?labels.?team.hasValue()",
        "message": "policies belong to a team",
    },
    name=NAME,
)
PLAIN = validating({"expression": "object.kind != 'ConfigMap'"}, name="plain")


def bound(policy: Json, **spec: Any) -> Json:
    return binding(policy, policy["metadata"]["name"], **spec)


def admit(
    static: list[Json], items: list[Json], rules: list[Json] | None = None, **spec: Any
) -> tuple[Done, Json]:
    """The function's answer with static manifests in `static/` of the working directory."""
    Path("static").mkdir(exist_ok=True)
    Path("static/all.yaml").write_text(yaml.safe_dump_all(static))
    context = {"staticManifests": ["static"], **spec.pop("context", {})}
    inline = {"rules": [{"inline": yaml.safe_dump_all(rules)}]} if rules else {}
    value = {
        "apiVersion": "config.kubernetes.io/v1",
        "kind": "ResourceList",
        "functionConfig": {
            "apiVersion": "krm-fn.dev/v1alpha1",
            "kind": "Admission",
            "metadata": {"name": "a"},
            "spec": {"context": context, **inline, **spec},
        },
        "items": items,
    }
    done = run(json.dumps(value).encode(), {})
    return done, json.loads(done.stdout) if done.stdout else {}


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_static_policy_judges_objects_without_any_other_rule() -> None:
    done, _ = admit([DENIES, bound(DENIES)], [config_map()])
    assert done.status == 1
    assert f"ValidatingAdmissionPolicy '{NAME}' with binding '{NAME}' denied request: no" in (
        done.stderr
    )


def test_static_policies_alone_are_asked_about_policies_and_bindings() -> None:
    everything = validating({"expression": "false"}, name="api")
    items = [PLAIN, bound(PLAIN)]
    done, _ = admit([KEEPS, bound(KEEPS)], items, [everything, bound(everything)])
    assert done.status == 1
    refused = [line for line in done.stderr.splitlines() if line.startswith("error")]
    assert len(refused) == 2
    assert all("policies belong to a team" in line for line in refused)


def test_without_static_policies_nobody_is_asked_about_policies() -> None:
    Path("rules.yaml").write_text(yaml.safe_dump_all([PLAIN, bound(PLAIN)]))
    everything = validating({"expression": "false"}, name="api")
    done, _ = admit([], [PLAIN, bound(PLAIN)], [everything, bound(everything)])
    assert done.status == 0


def test_webhooks_are_not_asked_about_policies() -> None:
    rule = {
        "apiVersion": "api.kubemod.io/v1beta1",
        "kind": "ModRule",
        "metadata": {"name": "r", "namespace": "kubemod-system"},
        "spec": {
            "type": "Reject",
            "targetNamespaceRegex": ".*",
            "match": [{"select": "$.kind", "matchValue": "ValidatingAdmissionPolicy"}],
        },
    }
    allows = validating({"expression": "true"}, name=NAME)
    targets = {"modRules": {"targetResources": ["*"]}}
    done, _ = admit([allows, bound(allows)], [PLAIN, bound(PLAIN)], [rule], **targets)
    assert done.status == 0, done.stderr


def test_a_static_mutating_policy_changes_policies() -> None:
    label = mutating(
        apply('Object{metadata: Object.metadata{labels: {"team": "core"}}}'), name=NAME
    )
    done, answer = admit([label, bound(label), KEEPS, bound(KEEPS)], [PLAIN, bound(PLAIN)])
    assert done.status == 0, done.stderr
    assert [i["metadata"]["labels"] for i in answer["items"]] == [{"team": "core"}] * 2


def test_static_policies_run_first() -> None:
    def adds(name: str) -> Json:
        added = f'object.?data.?order.orValue("") + "{name[0]}"'
        return mutating(apply(f'Object{{data: {{"order": {added}}}}}'), name=name)

    first, second = adds("z.static.k8s.io"), adds("a")
    rules = [second, bound(second)]
    _, answer = admit([first, bound(first)], [config_map()], rules, idempotency="Off")
    assert answer["items"][0]["data"]["order"] == "za"


def test_bindings_of_the_api_bind_no_static_policy() -> None:
    done, _ = admit([DENIES], [config_map()], [PLAIN, bound(PLAIN), binding(DENIES, "api")])
    assert "denied request: no" not in done.stderr
    assert "is inactive: no ValidatingAdmissionPolicyBinding names it" in done.stderr


PARAMS = {"apiVersion": "v1", "kind": "ConfigMap"}

REFUSED: list[tuple[list[Json], str]] = [
    ([PLAIN], "'plain' must end with .static.k8s.io in a static manifest"),
    (
        [
            validating(
                {"expression": "true"}, name=NAME, paramKind={"apiVersion": "v1", "kind": "A"}
            )
        ],
        "spec.paramKind: must not be set in a static manifest",
    ),
    (
        [DENIES, bound(DENIES, paramRef={"name": "a", "parameterNotFoundAction": "Deny"})],
        "spec.paramRef: must not be set in a static manifest",
    ),
    ([DENIES, binding(PLAIN, NAME)], "spec.policyName: 'plain' must end with .static.k8s.io"),
    (
        [DENIES, binding(validating(name="other.static.k8s.io"), NAME)],
        "spec.policyName: other.static.k8s.io is not among the static manifests",
    ),
    ([config_map()], "v1 ConfigMap is no static manifest"),
    ([{**DENIES, "apiVersion": f"{GROUP}/v1beta1"}], f"{GROUP}/v1beta1 Validating"),
    ([{**DENIES, "spec": {**DENIES["spec"], "validate": []}}], "unknown field spec.validate"),
    ([validating({"expression": "nothing"}, name=NAME)], "undeclared reference to 'nothing'"),
]


@pytest.mark.parametrize(("static", "message"), REFUSED, ids=[text for _, text in REFUSED])
def test_a_static_manifest_is_refused(static: list[Json], message: str) -> None:
    done, _ = admit(static, [config_map()])
    assert (done.status, done.stdout) == (1, b"")
    assert message in done.stderr
    assert "static/all.yaml:" in done.stderr


def test_a_name_of_static_policies_is_refused_elsewhere_since_1_37() -> None:
    rules = [DENIES, bound(DENIES)]
    done, _ = admit([], [config_map()], rules)
    assert "ends with .static.k8s.io, which the API takes from nobody" in done.stderr
    older, _ = admit([], [config_map()], rules, context={"kubernetesVersion": "1.36"})
    assert "denied request: no" in older.stderr


def test_static_manifests_need_a_release_that_reads_them() -> None:
    old, _ = admit([DENIES], [config_map()], context={"kubernetesVersion": "1.35"})
    assert "context.staticManifests needs a kubernetesVersion of 1.37" in old.stderr


def test_a_folder_is_read_as_the_api_server_reads_it() -> None:
    Path("static/below").mkdir(parents=True)
    Path("static/below/x.yaml").write_text("kind: Nonsense\napiVersion: v1\n")
    Path("static/notes.txt").write_text("none\n")
    assert admit([DENIES, bound(DENIES)], [config_map()])[0].status == 1
    missing, _ = admit([DENIES], [config_map()], context={"staticManifests": ["none"]})
    assert "spec.context.staticManifests: none does not exist" in missing.stderr


def test_static_manifests_stay_in_the_tree(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "x.yaml").write_text(yaml.safe_dump_all([DENIES, bound(DENIES)]))
    inside = tmp_path / "inside"
    inside.mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(inside)
        Path("link").symlink_to(outside)
        for path in ("../outside", "link", str(outside)):
            done, _ = admit([], [config_map()], context={"staticManifests": [path]})
            assert (done.status, done.stdout) == (1, b"")
            assert "spec.context.staticManifests" in done.stderr


def test_no_item_is_a_static_policy() -> None:
    # Whoever writes the items could otherwise guard their own policies against the operator's.
    done, _ = admit([], [config_map(), DENIES, bound(DENIES)], bindingsFromItems=True)
    assert (done.status, done.stdout) == (1, b"")
    assert "which the API takes from nobody" in done.stderr
