"""Which annotations SidecarSets may patch: a ConfigMap says it.

Source: OpenKruise v1.9.0 pkg/control/sidecarcontrol ValidateSidecarSetPatchMetadataWhitelist,
pkg/util/configuration; the SidecarSet specification, A15.
"""

from __future__ import annotations

from typing import Final

from krm_fn import limits
from krm_fn.admission import Cluster
from krm_fn.dialects.sidecarset.matching import LabelSelector
from krm_fn.dialects.sidecarset.revisions import KRUISE_NAMESPACE
from krm_fn.dialects.sidecarset.sets import SidecarSet
from krm_fn.dialects.sidecarset.types import whitelist_types
from krm_fn.errors import CompileError, DecodeError, LimitError
from krm_fn.kube.gotypes.fold import Folding
from krm_fn.kube.gotypes.mismatches import mismatch_error
from krm_fn.kube.served.mismatch import MismatchError
from krm_fn.kube.served.plan import Plan
from krm_fn.lang.go.json.scanner import NotJsonError, parse
from krm_fn.lang.go.json.unmarshal import value_of
from krm_fn.lang.go.regexp import Regex, compile_regex
from krm_fn.lang.go.release import Release
from krm_fn.values import Json, get

CONFIG_MAP: Final = "kruise-configuration"
KEY: Final = "SidecarSet_PatchPodMetadata_WhiteList"

ABSENT: Final = "SidecarSet patch metadata whitelist not found"
"""Of a render this says little: the ConfigMap is the cluster's."""


def complaint(one: SidecarSet, cluster: Cluster, gate: bool) -> str:
    """Why the set may not patch what it does, in Kruise's words; "" where it may.

    With `gate` the absence of rules that apply allows everything.
    """
    entries = one.whole.get("patchPodMetadata", ())
    if not entries:
        return ""
    text = _text(cluster)
    if text is None:
        return "" if gate else ABSENT
    try:
        allowed = _allowed(text, one)
    except (NotJsonError, LimitError, DecodeError, CompileError, _SelectorError) as error:
        return str(getattr(error, "message", error))
    if not allowed:
        return "" if gate else "sidecarSet patch metadata annotation is not allowed"
    for entry in entries:
        for key in entry.get("annotations", {}):
            if not any(regex.search(key) for regex in allowed):
                return f"sidecarSet patch metadata annotation({key}) is not allowed"
    return ""


class _SelectorError(Exception):
    """A rule's selector has an unknown operator."""


def _text(cluster: Cluster) -> str | None:
    found = cluster.get("", "ConfigMap", KRUISE_NAMESPACE, CONFIG_MAP)
    value = get(found, ("data", KEY))
    return None if value is None else str(value)


def _allowed(text: str, one: SidecarSet) -> list[Regex]:
    """The expressions of all rules that are for this set."""
    value = _decoded(text)
    allowed: list[Regex] = []
    for rule in value.get("rules") or ():
        if rule.get("selector") is not None:
            selector = LabelSelector(rule["selector"])
            if selector.error:
                raise _SelectorError(selector.error)
            if not selector.matches(one.labels):
                continue
        patterns = rule.get("allowedAnnotationKeyExprs") or ()
        allowed += [compile_regex(pattern, Release.GO_1_26) for pattern in patterns]
    return allowed


def _decoded(text: str) -> Json:
    struct = whitelist_types()
    with limits.deep_stack():
        value = value_of(parse(text))
        try:
            return {} if value is None else Folding(Plan({}, {})).read(value, struct)
        except MismatchError as mismatch:
            raise mismatch_error(mismatch, struct) from None
