"""What the API server says of a SidecarSet before Kruise's webhooks see it.

The CustomResourceDefinition prunes fields that it does not have (inside of containers and volumes
it keeps them, and Kruise's decoder drops them), and refuses words that an enumeration has not.
Source: openkruise/kruise config/crd/bases/apps.kruise.io_sidecarsets.yaml; the server's name check
is apimachinery's NameIsDNSSubdomain.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum
from typing import Any, Final, NamedTuple

from krm_fn.dialects.sidecarset.types import types
from krm_fn.kube.served.strict import unknown_fields
from krm_fn.kube.validation.names import dns_subdomain
from krm_fn.values import Json, Path, format_path, get


class Weight(IntEnum):
    """What the API server makes of a problem."""

    TAKEN = 0
    """Nothing: Kruise drops the field."""
    PRUNED = 1
    """It drops the field, or refuses the set where field validation is strict."""
    REFUSED = 2


class SchemaProblem(NamedTuple):
    """A field, and a sentence that begins with it."""

    path: Path
    message: str
    weight: Weight


def schema_problems(manifest: Json) -> Iterator[SchemaProblem]:
    """What is wrong with the manifest of a set, whatever Kruise would say of it."""
    name = get(manifest, ("metadata", "name"))
    for reason in dns_subdomain(name) if type(name) is str else ():
        message = f'metadata.name: Invalid value: "{name}": {reason}'
        yield SchemaProblem(("metadata", "name"), message, Weight.REFUSED)
    yield from _words(manifest.get("spec"))
    for finding in unknown_fields(manifest, types(manifest["apiVersion"]).object):
        kept = finding.path[:1] == ("spec",) and finding.path[1:2] in _KEPT and finding.path[2:]
        who, weight = ("Kruise", Weight.TAKEN) if kept else ("a cluster", Weight.PRUNED)
        yield SchemaProblem(finding.path, f"{finding.message}; {who} drops it", weight)


_KEPT: Final = (("containers",), ("initContainers",), ("volumes",))
"""Lists in which the definition keeps unknown fields."""

_MODES: Final = ("sum", "max")
_POLICIES: Final = ("Always", "Partial")


def _words(spec: Any) -> Iterator[SchemaProblem]:
    """Words of enumerations."""
    places: list[tuple[Path, tuple[str, ...]]] = [
        (("injectionStrategy", "revision", "policy"), _POLICIES)
    ]
    for kind in ("initContainers", "containers"):
        containers = get(spec, (kind,))
        for n in range(len(containers) if type(containers) is list else 0):
            places.append(((kind, n, "resourcesPolicy", "targetContainersMode"), _MODES))
    for path, words in places:
        word = get(spec, path)
        if type(word) is str and word not in words:
            known = ", ".join(f'"{one}"' for one in words)
            where = format_path(("spec", *path))
            message = f'{where}: Unsupported value: "{word}": supported values: {known}'
            yield SchemaProblem(("spec", *path), message, Weight.REFUSED)
