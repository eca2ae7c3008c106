"""matchConditions: a false one decides, errors are told together, and what they cost counts."""

from __future__ import annotations

import pytest

from krm_fn.admission import Operation, Request, User
from krm_fn.admission.activation import Authorizer, authorizer_bindings, request_value
from krm_fn.admission.conditions import ConditionDecision, MatchConditions
from krm_fn.admission.matching import Matched
from krm_fn.kube.cel import Variables, environment
from krm_fn.kube.resources import Resource
from krm_fn.lang.cel import MapView
from krm_fn.wire import Head

ENVIRONMENT = environment()
REQUEST = Request(
    Operation.CREATE,
    Head("apps/v1", "Deployment", "shop", "cart"),
    Resource("deployments", True),
    "shop",
    {},
    user=User("ana", "", ("devs",)),
)
MATCHED = Matched("apps", "v1", "Deployment", "deployments")


def decide(*sources: str) -> ConditionDecision:
    variables = Variables(ENVIRONMENT)
    conditions = MatchConditions(sources, variables.extend(ENVIRONMENT), variables)
    bindings = {
        "object": {"metadata": {"name": "cart"}},
        "oldObject": None,
        "namespaceObject": None,
        "request": request_value(REQUEST, MATCHED),
        **authorizer_bindings(Authorizer.ERROR, REQUEST),
    }
    return conditions.decide(bindings)


BOOL = "compilation error: must evaluate to bool but got dyn"


@pytest.mark.parametrize(
    ("sources", "decision"),
    [
        ((), ConditionDecision(True)),
        (("true", "object.metadata.name == 'cart'"), ConditionDecision(True)),
        (("true", "false"), ConditionDecision(False)),
        (("object.none == 1", "false"), ConditionDecision(False)),
        (("object.metadata",), ConditionDecision(False, BOOL)),
        (("object.metadata", "object.metadata"), ConditionDecision(False, BOOL)),
        (("request.userInfo.username == 'ana'",), ConditionDecision(True)),
        (("request.kind.group == 'apps' && request.namespace == 'shop'",), ConditionDecision(True)),
    ],
)
def test_conditions_decide(sources: tuple[str, ...], decision: ConditionDecision) -> None:
    assert decide(*sources) == decision


def test_several_errors_are_told_together_and_equal_ones_once() -> None:
    first = "expression 'object.a == 1' resulted in error: no such key: a"
    second = "expression 'object.b == 1' resulted in error: no such key: b"
    decision = decide("object.a == 1", "object.b == 1", "object.a == 1", "true")
    assert decision == ConditionDecision(False, f"[{first}, {second}]")


def test_conditions_share_what_they_may_cost() -> None:
    dear = "[" + ",".join(map(str, range(40))) + "]"
    text = f"{dear}.all(a, {dear}.all(b, {dear}.all(c, a + b + c >= 0)))"
    assert decide(text) == ConditionDecision(True)
    assert "out of cost budget" in decide(*[text] * 12, "false").error


def test_the_authorizer_says_how_to_answer_for_it() -> None:
    assert "policies.authorizer" in decide("authorizer.path('/x').check('get').allowed()").error


def test_a_request_has_no_empty_fields() -> None:
    request = request_value(REQUEST, MATCHED)
    assert isinstance(request, MapView)
    assert set(request.entries["userInfo"]) == {"username", "groups"}
    assert request.entries["options"] == {
        "kind": "CreateOptions",
        "apiVersion": "meta.k8s.io/v1",
    }
