"""The items that rules may see, each with its resource and namespace, resolved once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from krm_fn.admission import Cause, Cluster, Finding, Subject
from krm_fn.admission.coverage import Templates
from krm_fn.admission.views import HiddenAnnotations
from krm_fn.config.dialects import is_configuration, is_target
from krm_fn.config.options import Options, PodTemplates
from krm_fn.config.sources import RuleSet, is_twin
from krm_fn.errors import InputError
from krm_fn.kube.podtemplates import has_templates
from krm_fn.run.caller import Caller
from krm_fn.values import Json
from krm_fn.wire import Head, Item


class Target(NamedTuple):
    """An item that is admitted, and what its request is about."""

    item: Item
    subject: Subject

    @property
    def head(self) -> Head:
        return self.subject.head

    @property
    def namespace(self) -> str:
        return self.subject.namespace


def targets_of(
    items: Sequence[Item],
    options: Options,
    rules: RuleSet,
    cluster: Cluster,
    function_config: Item | None,
) -> Iterator[Target]:
    """The items that rules may see: no rule, nothing that the options leave out."""
    for item in items:
        is_one = is_target(item.head) or (rules.has_static and is_configuration(item.head))
        if is_one and options.match.may_fit(item.head) and not is_twin(item, function_config):
            yield Target(item, cluster.subject_of(item.head))


def pod_of(target: Target) -> Subject:
    """What a Pod of the object's templates is, before there is one."""
    return target.subject._replace(head=Head("v1", "Pod", target.namespace, ""))


def coverage_of(
    targets: Sequence[Target], options: Options, caller: Caller
) -> tuple[list[Subject], Templates]:
    """The subjects that rules were asked about, and the workloads whose Pods they were not."""
    subjects = [target.subject for target in targets]
    workloads = [
        (target.head, pod_of(target))
        for target in targets
        if has_templates(target.head.group, target.head.kind, options.extra_pod_templates)
    ]
    if options.pod_templates is not PodTemplates.IGNORE:
        subjects += [pod for _, pod in workloads]
        workloads = []
    remedy = caller.spelling("podTemplates: Mutate or Preview", "--pod-templates mutate or preview")
    return subjects, Templates(workloads, remedy)


def value_of(item: Item) -> Json:
    """The object; what is wrong with it says which object it is. Raises InputError."""
    try:
        return item.value
    except InputError as error:
        error.message = f"{item.head}: {error.message}"
        raise


def is_namespace(head: Head) -> bool:
    """Whether an object is a Namespace."""
    return head.kind == "Namespace" and head.group == ""


def without_marks(value: Json) -> Json:
    """An object without the annotations of the tools around us, as the cluster would hold it."""
    return HiddenAnnotations().get(value)


def named(head: Head) -> str:
    """`Deployment web/api`."""
    name = f"{head.namespace}/{head.name}" if head.namespace else head.name
    return f"{head.kind} {name}"


def overruled(item: Item, difference: str) -> Finding:
    """A warning that the operator's copy of an object counts, not the one among the items."""
    message = (
        f"{named(item.head)}: rules see the one of the context, not the one among the items "
        f"({item.origin}): {difference}"
    )
    return Finding(Cause.WARNING, False, message)
