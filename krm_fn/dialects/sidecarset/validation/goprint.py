"""Values of Kruise's types in Go's syntax, as validation quotes them. Knows no rule.

Source: Go's fmt with %#v and %+v.
"""

from __future__ import annotations

from typing import Any

from krm_fn.kube.validation.fields import Printed
from krm_fn.kube.validation.goprint import ADDRESS, label_selector_text, pointer
from krm_fn.lang.go.strconv import quote
from krm_fn.values import Json


def share_policy(policy: Json) -> Printed:
    """%#v of a ShareVolumePolicy."""
    return Printed(f"v1beta1.ShareVolumePolicy{{Type:{quote(policy.get('type', ''))}}}")


def resources_policy(policy: Json) -> Printed:
    """%#v of a ResourcesPolicy."""
    return Printed(
        "v1beta1.ResourcesPolicy{"
        f"TargetContainersMode:{quote(policy.get('targetContainersMode', ''))}, "
        f"TargetContainersNameRegex:{quote(policy.get('targetContainersNameRegex', ''))}, "
        f"ResourcesExpr:{resources_expressions(policy['resourcesExpr'])}}}"
    )


def resources_expressions(expressions: Json) -> Printed:
    """%#v of a ResourcesExpr."""
    limits = pointer("v1beta1.ResourceExprLimits", expressions, "limits")
    requests = pointer("v1beta1.ResourceExprRequests", expressions, "requests")
    return Printed(f"v1beta1.ResourcesExpr{{Limits:{limits}, Requests:{requests}}}")


def inject_revision(revision: Json) -> Printed:
    """%#v of a SidecarSetInjectRevision."""
    version = pointer("string", revision, "customVersion")
    name = pointer("string", revision, "revisionName")
    policy = quote(revision.get("policy", ""))
    return Printed(
        f"v1beta1.SidecarSetInjectRevision{{CustomVersion:{version}, RevisionName:{name}, "
        f"Policy:{policy}}}"
    )


def update_strategy(strategy: Json) -> str:
    """%+v of a pointer to a SidecarSetUpdateStrategy."""
    selector = strategy.get("selector")
    priority = "<nil>" if strategy.get("priorityStrategy") is None else ADDRESS
    terms = (f"{{Key:{t['key']} Value:{t['value']}}}" for t in strategy.get("scatterStrategy", ()))
    fields: dict[str, Any] = {
        "Type": strategy.get("type", ""),
        "Paused": str(strategy.get("paused", False)).lower(),
        "Selector": "nil" if selector is None else label_selector_text(selector),
        "Partition": strategy.get("partition", "nil"),
        "MaxUnavailable": strategy.get("maxUnavailable", "nil"),
        "PriorityStrategy": priority,
        "ScatterStrategy": f"[{' '.join(terms)}]",
    }
    return "&{" + " ".join(f"{name}:{value}" for name, value in fields.items()) + "}"
