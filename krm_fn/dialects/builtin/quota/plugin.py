"""The plugin ResourceQuota: refuses what a namespace has no room for.

Source: k8s.io/apiserver pkg/admission/plugin/resourcequota/controller.go.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from krm_fn.admission import Operation, Prefilter, Request, Response
from krm_fn.admission.quotause import QuotaUse
from krm_fn.dialects.builtin.amounts import Amounts, added
from krm_fn.dialects.builtin.defaultclass import with_default_class
from krm_fn.dialects.builtin.listers import Listers, name_of
from krm_fn.dialects.builtin.plugin import BuiltIn, Forbidden, InternalError, object_name
from krm_fn.dialects.builtin.quota.evaluators import Claims, Evaluator, evaluator_for
from krm_fn.dialects.builtin.quota.ledger import Account, Ledger, RunLedger, limits_of
from krm_fn.dialects.builtin.quota.scopes import Scope, scope_of, scopes_of
from krm_fn.dialects.builtin.quota.tally import Entry, Tally
from krm_fn.dialects.builtin.quota.workloads import UNKNOWN, Replicas, claims_of, replicas_of
from krm_fn.kube.podtemplates import has_templates
from krm_fn.kube.quantity import ZERO, Quantity
from krm_fn.values import Json
from krm_fn.wire import Head

RESOURCE_QUOTA: Final = ("", "ResourceQuota")


class Limited(NamedTuple):
    """A resource that nobody may use without a quota: one entry of the configuration."""

    resource: str
    group: str = ""
    contains: tuple[str, ...] = ()
    scopes: tuple[Scope, ...] = ()

    @classmethod
    def of(cls, entry: Mapping[str, Any]) -> Limited:
        """An entry of `limitedResources`, with the fields of the configuration file."""
        return cls(
            entry.get("resource", ""),
            entry.get("apiGroup", ""),
            tuple(entry.get("matchContains") or ()),
            tuple(map(scope_of, entry.get("matchScopes") or ())),
        )


class _Share(NamedTuple):
    """What a request takes of a quota."""

    quota: Json
    account: Account
    usage: Amounts


class ResourceQuota(BuiltIn):
    """Compares what objects use with what the quotas of their namespace have left.

    `counts_pods` says that templates of workloads are admitted as Pods, which then count as often
    as their workloads ask for them.
    """

    name = "ResourceQuota"
    subresources = frozenset({"", "resize"})

    def __init__(
        self,
        limited: Iterable[Limited] = (),
        ledger: Ledger | None = None,
        *,
        counts_pods: bool = False,
    ) -> None:
        self._limited = tuple(limited)
        self._ledger = ledger if ledger is not None else RunLedger()
        self._counts_pods = counts_pods
        self._workloads: dict[Hashable, Replicas] = {}
        self._tally = Tally()

    def prefilter(self, listers: Listers) -> Prefilter:
        return _Counted(listers, bool(self._limited), self._counts_pods)

    def validate(self, request: Request, listers: Listers) -> Response:
        if request.is_denied:
            # What is refused uses nothing.
            return Response()
        quotas = listers.list(RESOURCE_QUOTA, request.namespace) if request.namespace else ()
        if not request.namespace or not (quotas or self._limited):
            return Response()
        if self._counts_pods and has_templates(request.head.group, request.head.kind, {}):
            self._note_workload(request, listers)
        head, plural = request.head, request.resource.plural
        evaluator = evaluator_for(head.group, head.kind, plural, listers.release)
        if evaluator is None or not evaluator.handles(request):
            return Response()
        shares = self._checked(request, quotas, evaluator)
        for share in shares:
            _check_room(request, share)
        if request.workload is None:
            for share in shares:
                self._ledger.charge(share.quota, _who(request), share.usage)
        self._count(request, shares)
        return Response()

    def uses(self, listers: Listers) -> Iterator[QuotaUse]:
        """What the run would use of all quotas that are known."""
        return self._tally.uses(listers.in_order(RESOURCE_QUOTA))

    def _count(self, request: Request, shares: Sequence[_Share]) -> None:
        """Note what the request takes, as often as its workload asks for the Pod."""
        head = request.workload
        if head is None:
            label, times = f"{request.head.kind} {object_name(request.object)}", 1
        else:
            known = self._workloads.get(_workload(head, request.namespace))
            if known is None and has_templates(head.group, head.kind, {}):
                # The workload itself was refused.
                return
            replicas = known if known is not None else UNKNOWN
            label, times = f"{head.kind} {head.name} ({replicas.words})", replicas.pods
        for share in shares:
            self._tally.add(share.quota, _who(request), Entry(share.usage, times, label))

    def _note_workload(self, request: Request, listers: Listers) -> None:
        """Note how many Pods a workload asks for, and what its claims take.

        Its templates' Pods come after it.
        """
        replicas = replicas_of(request.head, request.object)
        self._workloads[_workload(request.head, request.namespace)] = replicas
        evaluator = Claims("persistentvolumeclaims", release=listers.release)
        label = f"{request.head.kind} {object_name(request.object)} ({replicas.words})"
        for n, claim in enumerate(claims_of(request.head, request.object)):
            claim = with_default_class(claim, listers)
            usage = evaluator.usage(claim)
            for quota in listers.list(RESOURCE_QUOTA, request.namespace):
                own = evaluator.matching(limits_of(quota))
                if own and all(evaluator.holds(one, claim) for one in scopes_of(quota)):
                    entry = Entry(usage, replicas.pods, label)
                    self._tally.add(quota, (_who(request), n), entry)

    def _checked(
        self, request: Request, quotas: Sequence[Json], evaluator: Evaluator
    ) -> Sequence[_Share]:
        """What the request takes of each quota that is about it. Raises Denied."""
        matching: list[tuple[Json, Account]] = []
        covered: set[str] = set()
        scopes: set[str] = set()
        for quota in quotas:
            account = self._ledger.account(quota, _who(request))
            own = evaluator.matching(account.hard)
            wanted = list(scopes_of(quota))
            scopes |= {one.name for one in wanted if evaluator.holds(one, request.object)}
            if not own or not all(evaluator.holds(one, request.object) for one in wanted):
                continue
            _check_given(request, quota, evaluator.missing(own, request.object))
            if not own <= account.used.keys():
                names = ",".join(sorted(own))
                detail = f"status unknown for quota: {name_of(quota)}, resources: {names}"
                raise Forbidden(request, detail)
            matching.append((quota, account))
            covered |= own
        usage = evaluator.usage(request.object)
        shares = list(_shares(request, matching, evaluator, usage))
        if shares if matching else _nonzero(_delta(request, evaluator, usage)):
            self._check_limited(request, evaluator, usage, covered, scopes)
        return shares

    def _check_limited(
        self,
        request: Request,
        evaluator: Evaluator,
        usage: Amounts,
        covered: set[str],
        scopes: set[str],
    ) -> None:
        """Raise Denied for what needs a quota, and has none."""
        own = request.head.group, request.resource.plural
        limited = {
            name
            for one in self._limited
            if (one.group, one.resource) == own
            for name, quantity in usage.items()
            if quantity.number > 0 and any(part in name for part in one.contains)
        }
        if limited - covered:
            names = ",".join(sorted(limited - covered))
            raise Forbidden(request, f"insufficient quota to consume: {names}")
        uncovered = [
            str(scope)
            for one in self._limited
            for scope in one.scopes
            if evaluator.holds(scope, request.object) and scope.name not in scopes
        ]
        if uncovered:
            raise InternalError(
                f"insufficient quota to match these scopes: [{' '.join(uncovered)}]"
            )


class _Counted(Prefilter):
    """The objects that quotas are about, by what the quotas of their namespace limit."""

    def __init__(self, listers: Listers, everything: bool, workloads: bool) -> None:
        super().__init__(())
        self._listers = listers
        self._everything = everything
        self._workloads = workloads
        self._known: dict[tuple[str, str, str], bool] = {}

    def wants(self, head: Head, namespace: str) -> bool:
        if not namespace or self._everything:
            return self._everything
        key = (head.group, head.kind, namespace)
        if key not in self._known:
            self._known[key] = self._is_limited(head, namespace)
        return self._known[key]

    def _is_limited(self, head: Head, namespace: str) -> bool:
        quotas = self._listers.list(RESOURCE_QUOTA, namespace)
        if not quotas:
            return False
        if self._workloads and has_templates(head.group, head.kind, {}):
            return True
        resource = self._listers.resource_for(head)
        evaluator = evaluator_for(head.group, head.kind, resource, self._listers.release)
        if evaluator is None:
            return False
        return bool(evaluator.matching([name for quota in quotas for name in limits_of(quota)]))


def _workload(head: Head, namespace: str) -> Hashable:
    return head.group, head.kind, namespace, head.name


def _who(request: Request) -> Hashable:
    head = request.head
    own = head.group, head.kind, request.namespace, object_name(request.object)
    workload = request.workload
    return own if workload is None else (own, _workload(workload, request.namespace))


def _check_given(request: Request, quota: Json, missing: Mapping[str, set[str]]) -> None:
    if missing:
        said = "; ".join(
            f"{name} for: {','.join(sorted(missing[name]))}" for name in sorted(missing)
        )
        raise Forbidden(request, f"failed quota: {name_of(quota)}: must specify {said}")


def _shares(
    request: Request,
    matching: Iterable[tuple[Json, Account]],
    evaluator: Evaluator,
    usage: Amounts,
) -> Iterator[_Share]:
    for quota, account in matching:
        taken: Amounts = usage
        old = request.old_object
        if request.operation is Operation.UPDATE and old is not None:
            hard = evaluator.matching(account.hard)
            if hard and all(evaluator.holds(one, old) for one in scopes_of(quota)):
                taken = _delta(request, evaluator, usage)
        taken = _nonzero(taken)
        if taken:
            yield _Share(quota, account, {n: one for n, one in taken.items() if n in account.hard})


def _delta(request: Request, evaluator: Evaluator, usage: Amounts) -> dict[str, Quantity]:
    """What an update adds to what its object used before; what it gives back is nothing."""
    if request.operation is not Operation.UPDATE or request.old_object is None:
        return dict(usage)
    before = evaluator.usage(request.old_object)
    more = {name: one.minus(before.get(name, ZERO)) for name, one in usage.items()}
    return {name: one if one.number > 0 else ZERO for name, one in more.items()}


def _nonzero(quantities: Amounts) -> dict[str, Quantity]:
    return {name: one for name, one in quantities.items() if one.number}


def _check_room(request: Request, share: _Share) -> None:
    """Raise Denied where a quota has no room for what is asked of it."""
    hard, used = share.account.hard, share.account.used
    total = added(used, share.usage)
    exceeded = sorted(name for name in share.usage if total[name].is_more_than(hard[name]))
    if exceeded:
        detail = (
            f"exceeded quota: {name_of(share.quota)}, requested: {_listed(share.usage, exceeded)}, "
            f"used: {_listed(used, exceeded)}, limited: {_listed(hard, exceeded)}"
        )
        raise Forbidden(request, detail if share.account.known else f"{detail}; {_ONLY_HERE}")


_ONLY_HERE: Final = "used is what this run has admitted, and the cluster may hold more"


def _listed(quantities: Amounts, names: Iterable[str]) -> str:
    return ",".join(f"{name}={quantities[name]}" for name in names if name in quantities)
