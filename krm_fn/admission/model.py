"""The types that carry an admission: rules, requests, responses, findings.

A **rule** is one manifest (a ModRule, a policy). A **dialect** is one system that rules are written
for. A **plugin** is what the API server would call: one webhook or one built-in, however many rules
it serves. Values are immutable: a plugin answers with new objects in which what it did not touch is
the same Python objects. Nothing here knows a dialect.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum, StrEnum
from typing import Any, NamedTuple, Protocol

from krm_fn.admission.cluster import Cluster
from krm_fn.kube.resources import Resource
from krm_fn.system.paths import WORKING_DIRECTORY, Base
from krm_fn.values import Json, Path
from krm_fn.wire import Head, Origin


@dataclass(frozen=True, slots=True)
class RuleRef:
    """Which rule something is about; `part` names a piece of it (`spec.patch[1]`)."""

    dialect: str
    kind: str
    namespace: str
    name: str
    part: str = ""
    origin: Origin | None = field(default=None, compare=False)

    def __str__(self) -> str:
        name = f"{self.namespace}/{self.name}" if self.namespace else self.name
        return f"{self.kind} {name}"


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule's manifest, as written, with its name."""

    ref: RuleRef
    value: Json
    line: Callable[[Path], int] | None = field(default=None, compare=False, repr=False)
    """The line of a field, counted as that of `ref.origin` is."""
    base: Base = field(default=WORKING_DIRECTORY, compare=False)
    """Where relative paths in the manifest start."""
    from_items: bool = field(default=False, compare=False)
    """Whether the author of the items wrote it: a binding then binds such rules only."""
    static: bool = field(default=False, compare=False)
    """Whether the API server reads it from a file when it starts."""

    def place(self, path: Path = ()) -> str:
        """Where the user wrote a field: `rules.yaml:17`; "" where nobody knows."""
        origin = self.ref.origin
        if origin is None:
            return ""
        if self.line is not None and origin.line is not None:
            origin = replace(origin, line=self.line(path))
        return str(origin)


class Cause(StrEnum):
    """What a finding is about."""

    REJECTED = "rejected"
    """A rule refuses the object."""
    FAILED = "failed"
    """A rule could not be evaluated or applied."""
    UNDECIDED = "undecided"
    """What a rule needs to know is not known at render time."""
    WARNING = "warning"
    AUDIT = "audit"
    NOTE = "note"


class Finding(NamedTuple):
    """Something to tell the user about one object (or about the whole run).

    `denies`: in a cluster, or by the options, the object would not get in because of this.
    `code` and `reason` are those of the API server's answer, 0 and "" where it gives none.
    """

    cause: Cause
    denies: bool
    message: str
    rules: tuple[RuleRef, ...] = ()
    field: Path | None = None
    code: int = 0
    reason: str = ""
    details: tuple[Finding, ...] = ()


class Step(NamedTuple):
    """The whole object as it is after the given rules, in the form that the plugin sees."""

    rules: tuple[RuleRef, ...]
    object: Json


class Response(NamedTuple):
    """What a plugin answers.

    `object` is None where nothing changed. `reinvocable` are the keys of the invocations that may
    run once more; `dirty` says that one of them must, since another of this plugin changed the
    object after it.
    """

    object: Json | None = None
    steps: tuple[Step, ...] = ()
    findings: tuple[Finding, ...] = ()
    reinvocable: frozenset[str] = frozenset()
    dirty: bool = False


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
    dry_run: bool = False
    uid: str = ""
    workload: Head | None = None
    """The object whose template this Pod is of: labels that its controller adds are not known."""


class Phase(IntEnum):
    """When the API server calls a plugin; lower comes first."""

    MUTATING_POLICY = 0
    MUTATING_WEBHOOK = 1
    VALIDATING_POLICY = 2
    VALIDATING_WEBHOOK = 3

    @property
    def mutates(self) -> bool:
        return self < Phase.VALIDATING_POLICY


class Selection(NamedTuple):
    """Objects by what their head says; None means any."""

    groups: frozenset[str] | None = None
    kinds: frozenset[str] | None = None
    namespaces: Container[str] | None = None
    names: frozenset[str] | None = None

    def wants(self, head: Head, namespace: str) -> bool:
        return (
            (self.kinds is None or head.kind in self.kinds)
            and (self.namespaces is None or namespace in self.namespaces)
            and (self.names is None or head.name in self.names)
            and (self.groups is None or head.group in self.groups)
        )


class Prefilter:
    """Which objects a plugin could match at all, told from heads. Never by labels.

    It may want too much, never too little: what it does not want is not even parsed.
    """

    __slots__ = ("_any_kind", "_by_kind")

    def __init__(self, selections: Iterable[Selection]) -> None:
        self._any_kind: list[Selection] = []
        self._by_kind: dict[str, list[Selection]] = {}
        for selection in selections:
            if selection.kinds is None:
                self._any_kind.append(selection)
            else:
                for kind in selection.kinds:
                    self._by_kind.setdefault(kind, []).append(selection)

    def wants(self, head: Head, namespace: str) -> bool:
        """Whether the plugin must be asked about an object; `namespace` is "" without one."""
        for selection in self._by_kind.get(head.kind, ()):
            if selection.wants(head, namespace):
                return True
        return any(selection.wants(head, namespace) for selection in self._any_kind)


class Trace:
    """Is told which criterion of a rule failed on which value. This one is silent and free."""

    active = False

    def missed(self, rule: RuleRef, criterion: str, value: Any) -> None:
        """A rule does not apply, since `criterion` does not hold for `value`."""


class Plugin(Protocol):
    """What the API server would call."""

    name: str
    phase: Phase
    order: tuple[str, str]
    """(configuration name, webhook name), compared as the server does."""
    prefilter: Prefilter

    def admit(
        self,
        request: Request,
        cluster: Cluster,
        trace: Trace,
        only: frozenset[str] | None = None,
    ) -> Response:
        """Admit one object; with `only`, just the invocations of these keys, once more."""
        ...

    def unseen(self, targets: Sequence[tuple[Head, str]]) -> Sequence[Finding]:
        """One finding for each rule that could see none of the objects (heads, namespaces)."""
        ...

    def pods_only(self) -> Sequence[RuleRef]:
        """The rules that could match nothing but Pods."""
        ...


class Compiled(NamedTuple):
    """What a dialect makes of its rules."""

    plugins: tuple[Plugin, ...]
    findings: tuple[Finding, ...] = ()


class Dialect(Protocol):
    """Manifests of one system, made into plugins."""

    def compile(
        self, rules: Sequence[Rule], options: Mapping[str, Any], cluster: Cluster
    ) -> Compiled:
        """Compile all rules; raises RuleError that lists everything that is wrong with them."""
        ...
