"""patchPodMetadata: annotations that a set adds to Pods, by one of three policies.

Source: OpenKruise v1.9.0 pkg/control/sidecarcontrol PatchPodMetadata; the SidecarSet specification,
A8 and A18.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from typing import Final

from krm_fn.dialects.sidecarset.refused import InjectionRefusedError
from krm_fn.dialects.sidecarset.sets import SidecarSet
from krm_fn.errors import EvaluationError
from krm_fn.lang.patch.merge import merge_patch, same_json
from krm_fn.values import Json

RETAIN: Final = "Retain"
OVERWRITE: Final = "Overwrite"
MERGE: Final = "MergePatchJson"
POLICIES: Final = (RETAIN, OVERWRITE, MERGE)


def patched(
    annotations: dict[str, str], sidecar_set: SidecarSet, settled: Container[str] = ()
) -> dict[str, str]:
    """The annotations after the set's patches, the same object where they change nothing.

    Keys that are `settled` stay. Raises InjectionRefusedError where a merge patch fails: that
    refuses the Pod.
    """
    result = dict(annotations)
    for entry in sidecar_set.spec.get("patchPodMetadata", ()):
        policy = entry.get("patchPolicy", RETAIN)
        for key, value in entry.get("annotations", {}).items():
            if key in settled:
                continue
            if policy == OVERWRITE or (policy == RETAIN and key not in result):
                result[key] = value
            elif policy == MERGE:
                try:
                    result[key] = merged(result.get(key, ""), value)
                except EvaluationError as error:
                    where = f"SidecarSet {sidecar_set.name}: annotation {key}"
                    raise InjectionRefusedError(error.message, (sidecar_set.ref,), where) from None
    return annotations if result == annotations else result


def fresh(sets: Iterable[SidecarSet]) -> dict[str, str]:
    """What all patches together make of no annotations.

    A value that is the same is what an earlier run left, and is settled: of several merge patches
    the first is stored as it is, with nulls that the same patch would remove from a value.
    """
    result: dict[str, str] = {}
    for sidecar_set in sets:
        try:
            result = patched(result, sidecar_set)
        except InjectionRefusedError:
            continue
    return result


def merged(existing: str, patch: str) -> str:
    """A value after a merge patch; one that says the same already keeps its spelling.

    Kruise stores the patch as it is where there was no value. The next run would write that anew,
    or even refuse it, so that here, where runs are many, a value that is the patch stays.
    Raises EvaluationError.
    """
    if existing in ("", patch):
        return patch
    result = merge_patch(existing, patch)
    return existing if same_json(result, existing) else result


def unknown_policies(entries: Iterable[Json]) -> Iterator[tuple[int, str]]:
    """Entries, by index, with a policy that Kruise does not know; it ignores them silently."""
    for n, entry in enumerate(entries):
        policy = entry.get("patchPolicy", RETAIN)
        if policy not in POLICIES:
            yield n, policy
