"""An admission request: what a plugin is asked about one object."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple

from krm_fn.admission.trace import Trace
from krm_fn.kube.resources import Resource
from krm_fn.values import Json
from krm_fn.wire import Head


class Operation(StrEnum):
    CREATE = "CREATE"
    UPDATE = "UPDATE"
    DELETE = "DELETE"


class User(NamedTuple):
    """Who asks, as `request.userInfo` shows it."""

    username: str = "system:admission-simulator"
    uid: str = ""
    groups: tuple[str, ...] = ("system:authenticated",)
    extra: Mapping[str, tuple[str, ...]] = {}


class Request(NamedTuple):
    """An admission request, in the words of `AdmissionReview`."""

    operation: Operation
    head: Head
    """apiVersion, kind and name; `namespace` below is the one that counts."""
    resource: Resource
    namespace: str
    """"" for cluster-scoped objects."""
    object: Json
    old_object: Json | None = None
    user: User = User()
    uid: str = ""
    trace: Trace | None = None
    """Records why rules match or do not, where somebody asks."""
    workload: Head | None = None
    """The object whose template this Pod is of: labels that its controller adds are not known."""
    subresource: str = ""
    """The part of the resource that is asked for, such as `ephemeralcontainers`."""
    written: Json | None = None
    """The object before it was decoded, which drops what is empty; None once a rule changed it."""
    is_denied: bool = False
    """Whether the request is refused already, so that a server would not ask any more."""
