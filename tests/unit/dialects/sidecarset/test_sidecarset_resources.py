"""resourcesPolicy: expressions, and what comes of a Pod's own resources."""

from __future__ import annotations

from typing import Any

import pytest
from sidecarset_support import inject, pod, sidecar_set

from krm_fn import limits
from krm_fn.dialects.sidecarset.calculator import as_quantity, evaluate
from krm_fn.errors import EvaluationError, LimitError
from krm_fn.kube.quantity import parse


def sized(*resources: dict[str, Any]) -> Any:
    given = pod()
    given["spec"]["containers"] = [
        {"name": f"app-{n}", "image": "a", "resources": one} for n, one in enumerate(resources)
    ]
    return given


def with_policy(expressions: str, mode: str = "sum", pattern: str = ".*") -> Any:
    return sidecar_set(
        f"""
        containers:
        - name: tail
          image: a
          resourcesPolicy:
            targetContainersMode: {mode}
            targetContainersNameRegex: '{pattern}'
            resourcesExpr: {expressions}
        """
    )


# TestApplyResourcesPolicy


def test_the_resources_of_all_containers_are_summed() -> None:
    given = sized(
        {"limits": {"cpu": "200m", "memory": "1Gi"}, "requests": {"cpu": "50m"}},
        {"limits": {"cpu": "400m", "memory": "1Gi"}, "requests": {"cpu": "100m"}},
    )
    one = with_policy(
        "{limits: {cpu: cpu*50%, memory: 200Mi}, requests: {cpu: cpu*50%, memory: 100Mi}}"
    )
    assert inject(one, into=given).container("tail")["resources"] == {
        "limits": {"cpu": "300m", "memory": "200Mi"},
        "requests": {"cpu": "75m", "memory": "100Mi"},
    }


def test_a_container_without_a_limit_leaves_none() -> None:
    given = sized({"limits": {"memory": "200Mi"}}, {"limits": {"cpu": "400m", "memory": "400Mi"}})
    done = inject(with_policy("{limits: {cpu: cpu*50%, memory: memory*30%}}"), into=given)
    assert done.container("tail")["resources"] == {"limits": {"memory": "180Mi"}}
    assert "reads limits.cpu, which not all target containers have" in done.findings[0].message


def test_the_largest_counts_where_the_mode_says_so() -> None:
    given = sized({"requests": {"cpu": "1"}}, {"requests": {"cpu": "3"}})
    done = inject(with_policy("{requests: {cpu: cpu}}", "max"), into=given)
    assert done.container("tail")["resources"] == {"requests": {"cpu": "3"}}


def test_containers_that_the_expression_names_count() -> None:
    given = sized({"requests": {"cpu": "1"}}, {"requests": {"cpu": "3"}})
    done = inject(with_policy("{requests: {cpu: cpu}}", pattern="-1$"), into=given)
    assert done.container("tail")["resources"] == {"requests": {"cpu": "3"}}


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("^web$", 'no containers match the regex pattern "^web$"'),
        (
            "(",
            'failed to get target containers: invalid regex pattern "(": '
            "error parsing regexp: missing closing ): `(`",
        ),
    ],
)
def test_a_pattern_that_finds_nothing_refuses_the_pod(pattern: str, reason: str) -> None:
    done = inject(with_policy("{requests: {cpu: cpu}}", pattern=pattern))
    assert done.error == f"SidecarSet s1: container tail: {reason}"


# TestEvaluateResourceExpression


@pytest.mark.parametrize(
    ("text", "value", "result"),
    [
        ("max(cpu*50%, 100m)", "150m", "100m"),
        ("max(cpu*50%, 100m)", "400m", "200m"),
        ("MIN(cpu, 1)", "400m", "400m"),
        ("cpu-0.1", "1", "900m"),
        ("-cpu+2*(cpu+1)", "1", "3"),
        ("cpu/3", "1", "333m"),
        ("0.29*100", "1", "28999m"),
        ("1000", "1", "1k"),
        ("1K", "1", "0"),
        ("1Gi+1G", "1", "2073741824"),
    ],
)
def test_an_expression_gives_a_quantity(text: str, value: str, result: str) -> None:
    assert str(as_quantity(evaluate(text, "cpu", parse(value)))) == result


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("cpu * invalid", "undefined variable: invalid"),
        ("cpu*cpu", "multiplication of two quantities"),
        ("1/cpu", "division by quantity"),
        ("cpu/0", "division by zero"),
        ("avg(cpu, 1)", "unknown function: avg"),
        ("max(cpu)", "max function requires exactly 2 arguments, got 1"),
        ("cpu-2", "calculation result is negative: -1"),
        ("(cpu", "parse error: syntax error at line 1, col 5"),
        ("cpu\n+", "parse error: syntax error at line 2, col 2"),
        ("avg(bad) )", "unknown function: avg"),
        ("1e3m", "quantities must match the regular expression"),
        ("", "parse error: syntax error at line 1, col 1"),
    ],
)
def test_an_expression_that_fails_tells_kruises_reason(text: str, reason: str) -> None:
    with pytest.raises(EvaluationError) as caught:
        evaluate(text, "cpu", parse("1"))
    assert caught.value.message.startswith(reason)


@pytest.mark.parametrize(
    "text",
    ["(" * 100_000, "-" * (limits.RESOURCE_EXPRESSION + 1), "-" * 5_000 + "1", "(" * 5_000],
)
def test_an_expression_that_is_too_long_or_too_deep_is_an_error(text: str) -> None:
    with pytest.raises(LimitError):
        evaluate(text, "cpu", 1.0)


def test_an_expression_as_deep_as_allowed_is_evaluated() -> None:
    depth = limits.EXPRESSION_NESTING - 1
    assert evaluate("(" * depth + "1" + ")" * depth, "cpu", 1.0) == 1.0
