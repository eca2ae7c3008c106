"""Kubernetes as policies read it, answered from the render: get, list, and context for Rego.

Objects are one snapshot: what is rendered, not what is in a cluster. Metadata is typed as the
policy server's client types it; lists lose what its cache drops.
Source: policy-evaluator callback_handler/kubernetes, as observed; vectors' README, 36 to 40, 47.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from krm_fn.admission import Cluster
from krm_fn.dialects.kubewarden.codec import jsontext
from krm_fn.dialects.kubewarden.host.masks import prune
from krm_fn.errors import ConfigError
from krm_fn.kube.resources import Resource
from krm_fn.kube.schema import Schemas
from krm_fn.kube.selectors import parse_selector, texts
from krm_fn.kube.wellknown import LAST_APPLIED
from krm_fn.values import Json, get

_METADATA: Final = frozenset(
    (
        "annotations",
        "creationTimestamp",
        "deletionGracePeriodSeconds",
        "deletionTimestamp",
        "finalizers",
        "generateName",
        "generation",
        "labels",
        "managedFields",
        "name",
        "namespace",
        "ownerReferences",
        "resourceVersion",
        "selfLink",
        "uid",
    )
)
_OWNER: Final = frozenset(("apiVersion", "blockOwnerDeletion", "controller", "kind", "name", "uid"))
_FRACTION: Final = re.compile(r"\.\d+(?=Z|[+-]\d\d:\d\d$)")
_SCHEMAS: Final = Schemas()


class ReadError(Exception):
    """A read failed; the text is the policy server's."""


class Reads:
    """Reads of one run. Answers are JSON texts, in the order in which the server writes them."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._lists: dict[tuple[str, str], list[Json]] = {}

    def get(self, wanted: Json) -> str:
        """One object, as stored. Raises ReadError where it is not rendered."""
        api_version, kind, name = wanted["api_version"], wanted["kind"], wanted["name"]
        resource = self._resource(api_version, kind)
        namespace = wanted.get("namespace")
        if resource.namespaced and namespace is None:
            raise ReadError(
                f"Resource {api_version}/{kind} is namespaced, but no namespace was provided"
            )
        if not name:
            # The client would list with it. Source: kube-core src/request.rs validate_name.
            raise ReadError(
                "Failed to build request: failed to validate request: A non-empty name is required"
            )
        group = _group(api_version)
        space = namespace if resource.namespaced else ""
        found = self._cluster.get(group, kind, space or "", name)
        if found is None or found.get("apiVersion") != api_version:
            place = f'Some("{namespace}")' if namespace is not None else "None"
            raise ReadError(
                f"Cannot find {api_version}/{kind} named '{name}' inside of namespace '{place}'"
            )
        return _text(prune(_typed(found), wanted.get("field_masks") or ()))

    def listing(self, wanted: Json, namespace: str | None) -> str:
        """All objects of a kind, sorted by namespace and name. Raises ReadError."""
        api_version, kind = wanted["api_version"], wanted["kind"]
        resource = self._resource(api_version, kind)
        if namespace is not None and not resource.namespaced:
            raise ReadError(
                f"resource {api_version}/{kind} is cluster wide. Cannot search for it inside of a "
                "namespace"
            )
        found = [
            prune(value, wanted.get("field_masks") or ())
            for value in self.objects(api_version, kind)
            if (namespace is None or self._namespace(value) == namespace)
            and _labelled(value, wanted.get("label_selector"))
            and _with_fields(value, wanted.get("field_selector"))
        ]
        items = ",".join(map(_text, found))
        head = jsontext.dumps({"apiVersion": api_version, "kind": f"{kind}List"})
        return f'{head[:-1]},"metadata":{{}},"items":[{items}]}}'

    def objects(self, api_version: str, kind: str) -> list[Json]:
        """All objects of a kind as lists show them, sorted by namespace and name."""
        key = (api_version, kind)
        if key not in self._lists:
            found = [
                _listed(_typed(value))
                for value in self._cluster.list(_group(api_version), kind)
                if value.get("apiVersion") == api_version
            ]
            found.sort(key=lambda value: (self._namespace(value), _name(value)))
            self._lists[key] = found
        return self._lists[key]

    def plural(self, api_version: str, kind: str) -> str:
        """The resource of a kind. Raises ReadError."""
        return self._resource(api_version, kind).plural

    def for_opa(self, resources: Iterable[tuple[str, str]]) -> Json:
        """What `data.kubernetes` holds: plural, namespace, name. Raises ReadError."""
        context: Json = {}
        for api_version, kind in resources:
            resource = self._resource(api_version, kind)
            for value in self.objects(api_version, kind):
                at = context.setdefault(resource.plural, {})
                if resource.namespaced:
                    at = at.setdefault(self._namespace(value), {})
                at[_name(value)] = value
        return context

    def for_gatekeeper(self, resources: Iterable[tuple[str, str]]) -> Json:
        """What `data.inventory` holds. Raises ReadError."""
        cluster: Json = {}
        spaces: Json = {}
        for api_version, kind in resources:
            resource = self._resource(api_version, kind)
            for value in self.objects(api_version, kind):
                at = cluster
                if resource.namespaced:
                    at = spaces.setdefault(self._namespace(value), {})
                at.setdefault(api_version, {}).setdefault(kind, {})[_name(value)] = value
        return {"cluster": cluster, "namespace": spaces}

    def _namespace(self, value: Json) -> str:
        namespace = get(value, ("metadata", "namespace"))
        return namespace if type(namespace) is str else self._cluster.default_namespace

    def _resource(self, api_version: str, kind: str) -> Resource:
        if self._is_served(api_version, kind):
            return self._cluster.resource_for(_group(api_version), kind)
        if api_version in _API_VERSIONS:
            raise ReadError(f"Cannot find resource {api_version}/{kind}")
        raise ReadError(
            f"error finding resource {api_version} / {kind}: ApiError: the server could not find "
            "the requested resource: NotFound"
        )

    def _is_served(self, api_version: str, kind: str) -> bool:
        """Whether a cluster has the kind: a built-in, a CRD's, or one that is rendered."""
        if _SCHEMAS.kind(api_version, kind) is not None:
            return True
        group, _, version = api_version.rpartition("/")
        crd = self._cluster.crd(group, kind)
        versions = get(crd, ("spec", "versions"), [])
        if any(get(one, ("name",)) == version for one in versions if type(versions) is list):
            return True
        return any(v.get("apiVersion") == api_version for v in self._cluster.list(group, kind))


def _group(api_version: str) -> str:
    return api_version.rpartition("/")[0]


def _name(value: Json) -> str:
    return str(get(value, ("metadata", "name"), ""))


def _text(value: Json) -> str:
    """An object as text: apiVersion, kind, metadata, then the rest, sorted."""
    first = {key: value[key] for key in ("apiVersion", "kind", "metadata") if key in value}
    rest = {key: member for key, member in value.items() if key not in first}
    parts = [f"{jsontext.dumps(key)}:{jsontext.dumps(member)}" for key, member in first.items()]
    if rest:
        parts.append(jsontext.dumps(rest)[1:-1])
    return "{" + ",".join(parts) + "}"


def _typed(value: Json) -> Json:
    """An object with the metadata that Kubernetes knows, and times without fractions."""
    found = value.get("metadata")
    if type(found) is not dict:
        return value
    metadata: Json = {k: v for k, v in found.items() if k in _METADATA and v is not None}
    for name in ("creationTimestamp", "deletionTimestamp"):
        if type(metadata.get(name)) is str:
            metadata[name] = _FRACTION.sub("", metadata[name])
    owners = metadata.get("ownerReferences")
    if type(owners) is list:
        metadata["ownerReferences"] = [
            {k: v for k, v in owner.items() if k in _OWNER} if type(owner) is dict else owner
            for owner in owners
        ]
    return {**value, "metadata": metadata}


def _listed(value: Json) -> Json:
    """An object as the policy server's cache holds it."""
    metadata = value.get("metadata")
    metadata = metadata if type(metadata) is dict else {}
    annotations = metadata.get("annotations")
    kept = {
        key: text
        for key, text in (annotations if type(annotations) is dict else {}).items()
        if key != LAST_APPLIED
    }
    return {**value, "metadata": {**metadata, "annotations": kept, "managedFields": []}}


def _labelled(value: Json, selector: str | None) -> bool:
    if not selector:
        return True
    try:
        return parse_selector(selector).matches(texts(get(value, ("metadata", "labels"))))
    except ConfigError as error:
        raise ReadError(f"ApiError: unable to parse requirement: {error}: BadRequest") from None


def _with_fields(value: Json, selector: str | None) -> bool:
    """Whether fields have the values that a field selector asks for (`a=b,c!=d`)."""
    for term in (selector or "").split(","):
        if not term.strip():
            continue
        name, negative, wanted = _term(term)
        found = get(value, tuple(name.split(".")), "")
        text = found if type(found) is str else jsontext.dumps(found)
        if (text == wanted) == negative:
            return False
    return True


def _term(term: str) -> tuple[str, bool, str]:
    for sign in ("!=", "==", "="):
        name, found, wanted = term.partition(sign)
        if found:
            return name.strip(), sign == "!=", wanted.strip()
    raise ReadError(f"ApiError: invalid field selector: {term!r}: BadRequest")


_API_VERSIONS: Final = frozenset(
    (
        "v1",
        "admissionregistration.k8s.io/v1",
        "apiextensions.k8s.io/v1",
        "apiregistration.k8s.io/v1",
        "apps/v1",
        "authentication.k8s.io/v1",
        "authorization.k8s.io/v1",
        "autoscaling/v1",
        "autoscaling/v2",
        "batch/v1",
        "certificates.k8s.io/v1",
        "coordination.k8s.io/v1",
        "discovery.k8s.io/v1",
        "events.k8s.io/v1",
        "flowcontrol.apiserver.k8s.io/v1",
        "networking.k8s.io/v1",
        "node.k8s.io/v1",
        "policy/v1",
        "rbac.authorization.k8s.io/v1",
        "scheduling.k8s.io/v1",
        "storage.k8s.io/v1",
    )
)
"""What every cluster serves; only the text of an error depends on it."""
