"""Which policies are asked about a request, through which bindings, with which params.

Everything is decided on the object as the plugin gets it, before any policy runs. What goes wrong
here is an error of the configuration, which failurePolicy covers.
Source: apiserver v0.37, pkg/admission/plugin/policy/generic/policy_dispatcher.go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from krm_fn import work
from krm_fn.admission import Cluster, Request, RuleRef
from krm_fn.admission.matching import Constraints, Matched, MatchResult, match, own_namespace
from krm_fn.admission.trace import RuleTrace
from krm_fn.dialects.policies.patching import as_json
from krm_fn.dialects.policies.spec import DENY, GROUP, Binding, ParamKind, ParamRef, Policy
from krm_fn.errors import DecodeError
from krm_fn.kube.resources import built_in
from krm_fn.kube.schema import Schemas
from krm_fn.kube.selectors import SelectorError, from_label_selector, texts
from krm_fn.values import Json, Path, get


class ConfigurationError(Exception):
    """A policy or binding cannot be used for a request; the message is the API server's."""


class Param(NamedTuple):
    """Params of one invocation. `built_in` tells those of a Go type, which CEL reads as such."""

    namespace: str
    name: str
    value: Json
    built_in: bool


class Invocation(NamedTuple):
    """One evaluation of a policy. `param` is None where there are none."""

    policy: Policy
    binding: Binding
    matched: Matched
    param: Param | None

    @property
    def key(self) -> str:
        """What tells this invocation from others of the same request."""
        param = self.param
        at = "" if param is None else f"{param.namespace}/{param.name}"
        return f"{self.policy.name} {self.binding.name} {at}"


class Misconfiguration(NamedTuple):
    """A policy, or one of its bindings, that cannot be used for a request."""

    policy: Policy
    binding: Binding | None
    message: str


class Undecided(NamedTuple):
    """A policy of which nobody can know whether it is about a request, and why."""

    policy: Policy
    why: str


class Noted(NamedTuple):
    """What was taken for granted about a request."""

    policy: Policy
    what: str


Found = Invocation | Misconfiguration | Undecided | Noted

_MATCH: Final = 50
"""Steps that it takes to match a policy, or one of its bindings."""

_REVIEWS: Final = {
    "authentication.k8s.io": frozenset(("tokenreviews", "selfsubjectreviews")),
    "authorization.k8s.io": frozenset(
        (
            "localsubjectaccessreviews",
            "selfsubjectaccessreviews",
            "selfsubjectrulesreviews",
            "subjectaccessreviews",
        )
    ),
}
_CONFIGURATIONS: Final = frozenset(
    (
        "mutatingadmissionpolicies",
        "mutatingadmissionpolicybindings",
        "validatingadmissionpolicies",
        "validatingadmissionpolicybindings",
    )
)


def is_excluded(request: Request) -> bool:
    """Whether no policy is ever asked about a resource."""
    return request.resource.plural in _REVIEWS.get(request.head.group, ())


def _is_configuration(request: Request) -> bool:
    """Whether only static policies are asked: others could lock themselves in."""
    return request.head.group == GROUP and request.resource.plural in _CONFIGURATIONS


_UNREAD: Final = ConfigurationError("")


class Dispatcher:
    """Finds the invocations for requests.

    `params_form` gives the form in which a params object is stored. Static policies come first, as
    upstream; then all come in the order of their names, bindings and params, too, where a real API
    server has no order.
    """

    def __init__(
        self,
        bound: Sequence[tuple[Policy, Sequence[Binding]]],
        schemas: Schemas,
        params_form: Callable[[Json], Json],
    ) -> None:
        self.bound = sorted(bound, key=lambda pair: (not pair[0].static, pair[0].name))
        self._schemas = schemas
        self._params_form = params_form
        self._known: Cluster | None = None
        self._found: dict[tuple[RuleRef, str], list[Param]] = {}
        self._forms: dict[tuple[ParamKind, int], tuple[Json, Param | ConfigurationError]] = {}

    def find(self, request: Request, cluster: Cluster) -> Iterator[Found]:
        """All invocations for a request, and what is to be said of policies that give none."""
        only_static = _is_configuration(request)
        for policy, bindings in self.bound:
            if only_static and not policy.static:
                continue
            yield from self._find(policy, bindings, request, cluster)

    def _find(
        self, policy: Policy, bindings: Sequence[Binding], request: Request, cluster: Cluster
    ) -> Iterator[Found]:
        work.spend(_MATCH * (1 + len(bindings)))
        record = None if request.trace is None else request.trace.rule(policy.ref)
        try:
            if policy.constraints is None:
                raise ConfigurationError("policy contained no match constraints, a required field")
            answer = _match(policy.constraints, request, cluster, record)
            if answer.matched is not None:
                self._check_param_kind(policy.param_kind, cluster)
        except ConfigurationError as error:
            if record is not None:
                record.ask("a policy that can be used", str(error), None)
            yield Misconfiguration(policy, None, str(error))
            return
        yield from _said(policy, answer)
        if answer.matched is None:
            return
        found, records = self._of_bindings(policy, bindings, answer.matched, request, cluster)
        if record is not None:
            _ask_bindings(record, records)
        yield from found

    def _of_bindings(
        self,
        policy: Policy,
        bindings: Sequence[Binding],
        matched: Matched,
        request: Request,
        cluster: Cluster,
    ) -> tuple[list[Found], list[tuple[Binding, RuleTrace]]]:
        """What a policy's bindings come to, and the criteria of each where somebody asks."""
        found: list[Found] = []
        records: list[tuple[Binding, RuleTrace]] = []
        for binding in sorted(bindings, key=lambda binding: binding.name):
            own = None
            if request.trace is not None:
                own = RuleTrace(binding.ref)
                records.append((binding, own))
            try:
                narrowed = MatchResult(matched)
                if binding.constraints is not None:
                    narrowed = _match(binding.constraints, request, cluster, own, _RESOURCES)
                found += _said(policy, narrowed)
                if narrowed.matched is None:
                    continue
                params = self._params(policy, binding, request, cluster)
                if own is not None:
                    _ask_params(own, policy, binding, params)
            except ConfigurationError as error:
                if own is not None:
                    own.ask("a binding that can be used", str(error), None)
                found.append(Misconfiguration(policy, binding, str(error)))
                continue
            found += (Invocation(policy, binding, matched, param) for param in params)
        return found, records

    # Params

    def _check_param_kind(self, kind: ParamKind | None, cluster: Cluster) -> None:
        if kind is not None and not self._is_known(kind, cluster):
            group, _, version = kind.api_version.rpartition("/")
            shown = f"{group}/{version}, Kind={kind.kind}"
            raise ConfigurationError(f"failed to find resource referenced by paramKind: '{shown}'")

    def _is_known(self, kind: ParamKind, cluster: Cluster) -> bool:
        if self._schemas.kind(kind.api_version, kind.kind) is not None:
            return True
        group, _, version = kind.api_version.rpartition("/")
        if built_in(group, kind.kind) is not None:
            return False
        crd = cluster.crd(group, kind.kind)
        if crd is not None:
            versions = get(crd, ("spec", "versions"), [])
            return any(get(one, ("name",)) == version for one in versions)
        return any(True for _ in cluster.list(group, kind.kind))

    def _params(
        self, policy: Policy, binding: Binding, request: Request, cluster: Cluster
    ) -> Sequence[Param | None]:
        kind, ref = policy.param_kind, binding.param_ref
        if kind is None or ref is None:
            return [None]
        namespaced = cluster.resource_for(kind.api_version.rpartition("/")[0], kind.kind).namespaced
        namespace = ref.namespace or own_namespace(request.head, request.namespace)
        if namespaced and not namespace:
            raise ConfigurationError(
                "cannot use namespaced paramRef in policy binding that matches cluster-scoped "
                "resources"
            )
        if ref.namespace and not namespaced:
            raise ConfigurationError(
                "paramRef.namespace must not be provided for a cluster-scoped `paramKind`"
            )
        found = self._looked_up(binding.ref, kind, ref, namespace if namespaced else "", cluster)
        if not found and ref.not_found == DENY:
            raise ConfigurationError(
                "no params found for policy binding with `Deny` parameterNotFoundAction"
            )
        return found

    def _looked_up(
        self, binding: RuleRef, kind: ParamKind, ref: ParamRef, namespace: str, cluster: Cluster
    ) -> list[Param]:
        """The params of a binding in a namespace, which are looked up once."""
        if cluster is not self._known:
            self._known = cluster
            self._found.clear()
            self._forms.clear()
        key = binding, namespace
        found = self._found.get(key)
        if found is None:
            found = self._found[key] = self._referenced(kind, ref, namespace, cluster)
        return found

    def _referenced(
        self, kind: ParamKind, ref: ParamRef, namespace: str, cluster: Cluster
    ) -> list[Param]:
        group = kind.api_version.rpartition("/")[0]
        if ref.name:
            if ref.selector is not None:
                raise ConfigurationError(
                    "paramRef.name and paramRef.selector are mutually exclusive"
                )
            value = cluster.get(group, kind.kind, namespace, ref.name)
            return [] if value is None else [self._param(kind, namespace, value)]
        if ref.selector is None:
            raise ConfigurationError("one of name or selector must be provided")
        try:
            selector = from_label_selector(ref.selector)
        except SelectorError as error:
            raise ConfigurationError(error.message) from None
        found = [
            self._param(kind, namespace, value)
            for value in cluster.list(group, kind.kind, namespace)
            if selector.matches(texts(get(value, ("metadata", "labels"))))
        ]
        return sorted(found, key=lambda param: (param.namespace, param.name))

    def _param(self, kind: ParamKind, namespace: str, value: Json) -> Param:
        """An object as params, once, whoever refers to it."""
        # With the object itself, so that no other can take its identity.
        _, made = self._forms.setdefault((kind, id(value)), (value, _UNREAD))
        if made is _UNREAD:
            try:
                made = self._read(kind, namespace, value)
            except ConfigurationError as error:
                made = error
            self._forms[kind, id(value)] = value, made
        if isinstance(made, ConfigurationError):
            raise made
        return made

    def _read(self, kind: ParamKind, namespace: str, value: Json) -> Param:
        built_in = self._schemas.kind(kind.api_version, kind.kind) is not None
        try:
            value = self._params_form({**value, "apiVersion": kind.api_version})
        except DecodeError as error:
            raise ConfigurationError(f"params cannot be read: {error.message}") from None
        if not built_in:
            # The API server has stored them as JSON, in which 2.0 is 2.
            value = as_json(value)
        return Param(namespace, str(get(value, ("metadata", "name"), "")), value, built_in)


def _ask_params(
    record: RuleTrace, policy: Policy, binding: Binding, params: Sequence[Param | None]
) -> None:
    """Record what a binding's paramRef found."""
    kind, ref = policy.param_kind, binding.param_ref
    if kind is None or ref is None:
        return
    wanted = ref.name or "by its selector"
    named = [
        f"{param.namespace}/{param.name}" if param.namespace else param.name
        for param in params
        if param is not None
    ]
    saw = ", ".join(named) or "not found"
    field = ("spec", "paramRef")
    record.ask(f"params {kind.kind} {wanted}", saw, bool(params), field=field)


def _ask_bindings(record: RuleTrace, records: Sequence[tuple[Binding, RuleTrace]]) -> None:
    """Record whether any binding applies, and why the others do not."""
    reasons = []
    held: bool | None = False
    applying = []
    for binding, own in records:
        failing = own.failing
        if failing is None:
            applying.append(binding.name)
            continue
        held = None if failing.held is None else held
        reasons.append(f"{binding.name}: wants {failing.wants}, saw {failing.saw}")
    saw = ", ".join(applying) if applying else "; ".join(reasons)
    record.ask("a binding that applies", saw, bool(applying) or held)


_CONSTRAINTS: Final = ("spec", "matchConstraints")
_RESOURCES: Final = ("spec", "matchResources")


def _match(
    constraints: Constraints,
    request: Request,
    cluster: Cluster,
    record: RuleTrace | None,
    field: Path = _CONSTRAINTS,
) -> MatchResult:
    try:
        return match(constraints, request, cluster, record, field)
    except SelectorError as error:
        raise ConfigurationError(f"Internal error occurred: {error.message}") from None


def _said(policy: Policy, answer: MatchResult) -> Iterator[Found]:
    if answer.undecided:
        yield Undecided(policy, answer.undecided)
    for note in answer.notes:
        yield Noted(policy, note)
