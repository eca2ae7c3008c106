"""Values of Kubernetes' types in Go's syntax, as validation quotes them. Knows no rule.

Source: Go's fmt with %#v and %+v; the generated String of metav1.LabelSelector.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from krm_fn.kube.quantity import BINARY, DECIMAL, EXPONENT, Quantity
from krm_fn.kube.validation.fields import Printed
from krm_fn.lang.go.strconv import quote
from krm_fn.values import Json

ADDRESS = "<ptr>"
"""Stands for a memory address, which is another one in every run."""


def label_selector(selector: Json) -> Printed:
    """%#v of a LabelSelector."""
    labels = "(nil)"
    if selector.get("matchLabels"):
        labels = f"{{{_pairs(selector['matchLabels'])}}}"
    expressions = "(nil)"
    if selector.get("matchExpressions"):
        requirements = ", ".join(map(_requirement, selector["matchExpressions"]))
        expressions = f"{{{requirements}}}"
    return Printed(
        f"v1.LabelSelector{{MatchLabels:map[string]string{labels}, "
        f"MatchExpressions:[]v1.LabelSelectorRequirement{expressions}}}"
    )


def _pairs(labels: Mapping[str, str]) -> str:
    return ", ".join(f"{quote(key)}:{quote(labels[key])}" for key in sorted(labels))


def _requirement(requirement: Json) -> str:
    values = requirement.get("values")
    listed = f"{{{', '.join(map(quote, values))}}}" if values else "(nil)"
    return (
        f"v1.LabelSelectorRequirement{{Key:{quote(requirement['key'])}, "
        f"Operator:{quote(requirement['operator'])}, Values:[]string{listed}}}"
    )


def pointer(go_type: str, value: Json, name: str) -> str:
    """A member that is a pointer: its address, which is another one in every run, or nil."""
    return f"(*{go_type})({ADDRESS if value.get(name) is not None else 'nil'})"


def int_or_percent(value: int | str) -> Printed:
    """%#v of an IntOrString."""
    if isinstance(value, str):
        fields = f"Type:1, IntVal:0, StrVal:{quote(value)}"
    else:
        fields = f'Type:0, IntVal:{value}, StrVal:""'
    return Printed(f"intstr.IntOrString{{{fields}}}")


_CONTEXT_FIELDS: Final = {
    "capabilities": ("Capabilities", "core.Capabilities"),
    "privileged": ("Privileged", "bool"),
    "seLinuxOptions": ("SELinuxOptions", "core.SELinuxOptions"),
    "windowsOptions": ("WindowsOptions", "core.WindowsSecurityContextOptions"),
    "runAsUser": ("RunAsUser", "int64"),
    "runAsGroup": ("RunAsGroup", "int64"),
    "runAsNonRoot": ("RunAsNonRoot", "bool"),
    "readOnlyRootFilesystem": ("ReadOnlyRootFilesystem", "bool"),
    "allowPrivilegeEscalation": ("AllowPrivilegeEscalation", "bool"),
    "procMount": ("ProcMount", "core.ProcMountType"),
    "seccompProfile": ("SeccompProfile", "core.SeccompProfile"),
    "appArmorProfile": ("AppArmorProfile", "core.AppArmorProfile"),
}


def security_context(context: Json) -> Printed:
    """%#v of a SecurityContext."""
    fields = (
        f"{go_name}:{pointer(go_type, context, name)}"
        for name, (go_name, go_type) in _CONTEXT_FIELDS.items()
    )
    return Printed(f"core.SecurityContext{{{', '.join(fields)}}}")


def seccomp_profile(profile: Json) -> Printed:
    """%#v of a SeccompProfile."""
    local = pointer("string", profile, "localhostProfile")
    kind = quote(profile.get("type", ""))
    return Printed(f"core.SeccompProfile{{Type:{kind}, LocalhostProfile:{local}}}")


_FORMATS: Final = {DECIMAL: "DecimalSI", BINARY: "BinarySI", EXPONENT: "DecimalExponent"}


def quantity(value: Quantity) -> Printed:
    """%#v of a resource.Quantity that 64 bits hold."""
    amount = f"resource.int64Amount{{value:{value.number}, scale:{value.scale}}}"
    none = "resource.infDecAmount{Dec:(*inf.Dec)(nil)}"
    text, style = quote(value.text), quote(_FORMATS[value.format])
    return Printed(f"resource.Quantity{{i:{amount}, d:{none}, s:{text}, Format:{style}}}")


def label_selector_text(selector: Json) -> str:
    """%+v of a pointer to a LabelSelector: its generated String."""
    labels = selector.get("matchLabels", {})
    pairs = _listed(f"{key}: {labels[key]}" for key in sorted(labels))
    expressions = _listed(
        f"LabelSelectorRequirement{{Key:{e['key']},Operator:{e['operator']},"
        f"Values:[{' '.join(e.get('values', ()))}],}}"
        for e in selector.get("matchExpressions", ())
    )
    return (
        f"&LabelSelector{{MatchLabels:map[string]string{{{pairs}}},"
        f"MatchExpressions:[]LabelSelectorRequirement{{{expressions}}},}}"
    )


def _listed(parts: Iterable[str]) -> str:
    return "".join(f"{part}," for part in parts)
