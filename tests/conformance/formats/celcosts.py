"""What expressions cost, as the API server's library counts it when they have been evaluated.

Recorded with k8s.io/apiserver v0.37.2 and cel-go v0.29.2: `expr` compiled by
`plugincel.NewCompositedCompiler` for 1.37 in the mode for stored expressions, evaluated on `object`
(a map as JSON has it), `cost` is the evaluation's ActualCost. `thousandKeys`: the object is a
ConfigMap's `data` with a thousand keys. Expressions that fail are not here: upstream stops counting
in the middle.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from formats import Verdict
from krm_fn.admission import Operation, Request
from krm_fn.admission.activation import Authorizer, authorizer_bindings
from krm_fn.kube.cel import STORED, environment
from krm_fn.kube.resources import Resource
from krm_fn.lang.cel import Budget, Environment
from krm_fn.wire import Head

THOUSAND_KEYS = {"data": {f"k{n:04}": "v" for n in range(1_000)}}
REQUEST = Request(Operation.CREATE, Head("v1", "Pod", "a", "b"), Resource("pods", True), "a", {})


@cache
def _environment() -> Environment:
    return environment(STORED, params=True, mutation=True)


def check(case: dict[str, Any]) -> Verdict:
    value = THOUSAND_KEYS if case.get("thousandKeys") else case.get("object")
    budget = Budget()
    bindings = {
        "object": value,
        "oldObject": None,
        "params": None,
        **authorizer_bindings(Authorizer.DENY, REQUEST),
    }
    _environment().compile(case["expr"]).evaluate(bindings, budget)
    return Verdict.compare(case["cost"], budget.used)
