"""Kinds of Kubernetes' own groups in versions that its release does not serve."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from krm_fn.admission import Cause, Finding
from krm_fn.kube.resources import built_in_groups, is_removed
from krm_fn.run.target import Target, named
from krm_fn.wire import Item


def not_served(targets: Sequence[Target], kubernetes_version: str) -> Iterator[Finding]:
    """A warning for each kind of a group of Kubernetes' own that the release does not serve.

    The server refuses such objects, and rules, which name resources that it serves, do not see
    them: `extensions/v1beta1` in place of `apps/v1`.
    """
    from krm_fn.kube.schema import Schemas

    schemas = Schemas(kubernetes_version)
    by_kind: dict[tuple[str, str], list[Item]] = {}
    for item in (target.item for target in targets):
        by_kind.setdefault((item.head.api_version, item.head.kind), []).append(item)
    for (api_version, kind), items in by_kind.items():
        group = items[0].head.group
        if schemas.kind(api_version, kind) is not None and not is_removed(api_version, kind):
            continue
        if group != _RETIRED_GROUP and group not in built_in_groups():
            continue
        versions = [one.version for one in schemas.versions(group, kind) if one.plural]
        served = [f"{group}/{version}" if group else version for version in versions]
        served = [version for version in served if not is_removed(version, kind)]
        served += _SUCCESSORS.get(kind, ()) if group == _RETIRED_GROUP else ()
        remedy = f"; write {' or '.join(served)}" if served else ""
        number = f" ({len(items)} objects)" if len(items) > 1 else ""
        message = (
            f"{named(items[0].head)} ({items[0].origin}){number}: "
            f"Kubernetes {schemas.release} has no {kind} of {api_version}, "
            f"so that rules may not see it{remedy}"
        )
        yield Finding(Cause.WARNING, False, message)


_RETIRED_GROUP: Final = "extensions"
_SUCCESSORS: Final = {
    "DaemonSet": ("apps/v1",),
    "Deployment": ("apps/v1",),
    "Ingress": ("networking.k8s.io/v1",),
    "NetworkPolicy": ("networking.k8s.io/v1",),
    "ReplicaSet": ("apps/v1",),
}
