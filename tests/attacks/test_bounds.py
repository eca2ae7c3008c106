"""Bounds (docs/trust.md, section 4): what rules do is limited for a run, not for an object alone.

Nothing is super-linear in one value, rule, operation or object: steps are counted at n, 2n and 4n.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml

from krm_fn import limits
from krm_fn.function import Done, run
from tests.steps import assert_linear

Json = dict[str, Any]

GROUP = "admissionregistration.k8s.io"
ANYTHING: Json = {
    "apiGroups": ["*"],
    "apiVersions": ["*"],
    "operations": ["*"],
    "resources": ["*"],
}


def bound(kind: str, **spec: Any) -> list[Json]:
    """A policy about everything, and its binding."""
    constraints = {"resourceRules": [ANYTHING]}
    binding: Json = {"policyName": "p"}
    if kind.startswith("Validating"):
        binding["validationActions"] = ["Deny"]
    return [
        {
            "apiVersion": f"{GROUP}/v1",
            "kind": kind,
            "metadata": {"name": "p"},
            "spec": {"matchConstraints": constraints, **spec},
        },
        {
            "apiVersion": f"{GROUP}/v1",
            "kind": f"{kind}Binding",
            "metadata": {"name": "p"},
            "spec": binding,
        },
    ]


def validating(expression: str, **spec: Any) -> list[Json]:
    return bound("ValidatingAdmissionPolicy", validations=[{"expression": expression}], **spec)


def config_map(name: str, data: Json | None = None) -> Json:
    value: Json = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}}
    return {**value, "data": data} if data else value


def admit(rules: list[Json], items: list[Json], **spec: Any) -> Done:
    """The function's answer to items under rules, all of it within a megabyte."""
    config = {
        "apiVersion": "krm-fn.dev/v1alpha1",
        "kind": "Admission",
        "metadata": {"name": "a"},
        "spec": {"rules": [{"inline": yaml.safe_dump_all(rules)}], **spec},
    }
    value = {
        "apiVersion": "config.kubernetes.io/v1",
        "kind": "ResourceList",
        "functionConfig": config,
        "items": items,
    }
    data = json.dumps(value).encode()
    assert len(data) < 1_000_000
    return run(data, {})


NESTED = "object.metadata.name != '' && " + "[1,2,3,4,5,6,7,8,9,0].all(a, " * 5 + "true" + ")" * 5


def test_what_expressions_cost_counts_for_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "RUN_STEPS", 1_000_000)
    policy = validating(NESTED)
    assert admit(policy, [config_map("a")]).status == 0
    done = admit(policy, [config_map(f"c{n}") for n in range(200)])
    assert (done.status, done.stdout) == (1, b"")
    assert done.stderr.startswith("error the rules take more than ")


def test_nobody_passes_because_the_run_has_no_steps_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "RUN_STEPS", 100_000)
    for failure_policy in ("Fail", "Ignore"):
        policy = validating(NESTED, failurePolicy=failure_policy)
        done = admit(policy, [config_map(f"c{n}") for n in range(20)], mode="Audit")
        assert (done.status, done.stdout) == (1, b"")


def test_a_large_input_has_a_share_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "RUN_STEPS", 20_000)
    policy = validating("object.data.all(k, object.data[k] != '')")
    items = [config_map(f"c{n}", {f"k{k}": "v" for k in range(50)}) for n in range(200)]
    assert admit(policy, items).status == 0


def test_calls_that_the_server_takes_for_cheap_are_paid_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Sorting what the checker does not know costs 1 there.
    monkeypatch.setattr(limits, "RUN_STEPS", 1_000_000)
    sorts = "object.data.all(k, object.data.map(x, x).map(x, dyn(x)).sort().size() > 0)"
    data = {f"key-{n:04}": "" for n in range(120)}
    done = admit(validating(sorts), [config_map(f"c{n}", data) for n in range(20)])
    assert (done.status, done.stdout) == (1, b"")


def test_evaluation_is_linear_in_a_map() -> None:
    from krm_fn.kube.cel import environment

    environment().compile("true")
    for expression in (
        "object.all(k, object[k] == k)",
        "object == object",
        "object.map(k, k).map(k, dyn(k)).sort().size() > 0",
        "object.map(k, k).join(',').size() > 0",
        "'none' in object.map(k, k)",
    ):
        program = environment().compile(expression)
        assert_linear(
            lambda n, program=program: program.evaluate(
                {"object": {f"k{i}": f"k{i}" for i in range(n)}}
            ),
            500,
        )
