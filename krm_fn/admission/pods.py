"""Pods that only exist as templates: shown to the chain as Pods, written back as templates.

Webhooks and policies for Pods never see a workload, and a render never sees its Pods. So a template
is made into the Pod that its controller would ask for, admitted as one, and what rules change goes
back into the template. What a template cannot hold is told. This module knows no dialect.
Source: the specification of Pods at render time, P2 and P5.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from krm_fn.admission.chain import Chain, Change, Verdict
from krm_fn.admission.cluster import Cluster, Subject
from krm_fn.admission.response import Cause, Finding
from krm_fn.admission.rule import RuleRef
from krm_fn.admission.trace import Trace
from krm_fn.kube.podtemplates import BUILT_IN, Places, template_paths
from krm_fn.values import MISSING, Json, Path, diff, equal, format_path, get, with_at
from krm_fn.wire import Head
from krm_fn.wire.wellknown import LOCAL_CONFIG

PREVIEW_OF: Final = "krm-fn.dev/preview-of"
"""The annotation of a preview: which template of which object it was made from."""

_CONTROLLER_GIVES: Final = "a template cannot hold it; Pods get it from their controller"


@dataclass(frozen=True, slots=True)
class PodTemplate:
    """One Pod template of an object: where it lies, and the Pod that would be made of it."""

    workload: Head
    path: Path
    pod: Json
    claims: Mapping[str, Json]
    """Volumes that the controller adds for volumeClaimTemplates, by name; `pod` has them, too."""

    @property
    def head(self) -> Head:
        namespace = get(self.pod, ("metadata", "namespace"), "")
        return Head("v1", "Pod", namespace, "")

    def written_back(self, value: Json, pod: Json) -> Json:
        """The object `value` with annotations and specification of the admitted Pod."""
        annotations: Path = ("metadata", "annotations")
        new = get(pod, annotations, MISSING)
        if not equal(new, get(self.pod, annotations, MISSING)):
            value = with_at(value, (*self.path, *annotations), new)
        spec = self._without_claims(pod)
        if not equal(spec, self._without_claims(self.pod)):
            value = with_at(value, (*self.path, "spec"), spec)
        return value

    def _without_claims(self, pod: Json) -> Any:
        spec = pod.get("spec", MISSING)
        volumes = get(spec, ("volumes",))
        if not self.claims or type(volumes) is not list:
            return spec
        own = [volume for volume in volumes if not self._is_claim(volume)]
        return with_at(spec, ("volumes",), own or MISSING)

    def _is_claim(self, volume: Any) -> bool:
        claim = self.claims.get(_name(volume))
        return claim is not None and equal(volume, claim)

    def field(self, path: Path) -> Path:
        """Where a path of the Pod lies in the object; the template itself where it has none."""
        inside = path[:1] == ("spec",) or path[:2] == ("metadata", "annotations")
        return (*self.path, *path) if inside else self.path


def template_of(head: Head, value: Json, namespace: str, path: Path) -> PodTemplate | None:
    """The template at a path of an object, with its Pod; None where there is none (any more)."""
    template = get(value, path)
    if type(template) is not dict:
        return None
    given = template.get("metadata")
    metadata = {k: v for k, v in given.items() if v is not None} if type(given) is dict else {}
    metadata.pop("name", None)
    metadata["generateName"] = f"{head.name}-" if head.name else _generate_name(value)
    if namespace:
        metadata["namespace"] = namespace
    owner = {"apiVersion": head.api_version, "kind": head.kind, "name": head.name}
    metadata["ownerReferences"] = [{**owner, "controller": True}]
    pod: Json = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata}
    if "spec" not in template:
        return PodTemplate(head, path, pod, {})
    spec = template["spec"]
    volumes = get(spec, ("volumes",))
    claims: dict[str, Json] = {}
    if type(spec) is dict and (volumes is None or type(volumes) is list):
        named = {_name(volume) for volume in volumes or ()}
        claims = {name: claim for name, claim in _claims(head, value) if name not in named}
        if claims:
            spec = with_at(spec, ("volumes",), [*(volumes or ()), *claims.values()])
    return PodTemplate(head, path, {**pod, "spec": spec}, claims)


def _claims(head: Head, value: Json) -> Iterator[tuple[str, Json]]:
    claims = get(value, ("spec", "volumeClaimTemplates"))
    for claim in claims if type(claims) is list else ():
        name = _name(get(claim, ("metadata",)))
        if name:
            source = {"claimName": f"{name}-{head.name}-0"}
            yield name, {"name": name, "persistentVolumeClaim": source}


def _name(value: Any) -> str:
    name = get(value, ("name",))
    return name if type(name) is str else ""


def _paths(head: Head, value: Json, extra: Places) -> list[Path]:
    """Where an object has templates of its own.

    What another object controls has none, as that other one's Pods are the same.
    """
    owners = get(value, ("metadata", "ownerReferences"))
    if type(owners) is list and any(get(owner, ("controller",)) is True for owner in owners):
        return []
    return [path for path in template_paths(head.group, head.kind, value, extra) if path]


def admit_templates(
    chain: Chain, subject: Subject, verdict: Verdict, cluster: Cluster, extra: Places
) -> Verdict:
    """The verdict on an object after the Pods of its templates were admitted, too."""
    head, namespace = subject.head, subject.namespace
    for path in _paths(head, verdict.object, extra):
        template = template_of(head, verdict.object, namespace, path)
        if template is not None:
            pod = chain.admit(
                cluster.subject_of(template.head), template.pod, cluster, workload=head
            )
            verdict = _merged(verdict, template, pod)
    return verdict


def _admit_pod(chain: Chain, template: PodTemplate, cluster: Cluster) -> Verdict:
    subject = cluster.subject_of(template.head)
    return chain.admit(subject, template.pod, cluster, workload=template.workload)


def _merged(verdict: Verdict, template: PodTemplate, pod: Verdict) -> Verdict:
    findings = _of_template(template, pod, verdict)
    changes: list[Change] = []
    lost: dict[Path, dict[RuleRef, None]] = {}
    for change in pod.changes:
        if template.field(change.path) == template.path:
            lost.setdefault(change.path[:2], {}).update(dict.fromkeys(change.rules))
        else:
            changes.append(change._replace(path=template.field(change.path)))
    for edit in diff(template.pod, pod.object):
        rules = lost.get(edit.path[:2])
        if rules is not None:
            message = f"{format_path(edit.path)} of the Pod is not written: {_CONTROLLER_GIVES}"
            findings.append(Finding(Cause.WARNING, False, message, tuple(rules), template.path))
    return verdict._replace(
        object=template.written_back(verdict.object, pod.object),
        findings=(*verdict.findings, *findings),
        changes=(*verdict.changes, *changes),
        matched=verdict.matched | pod.matched,
        traces=(*verdict.traces, *_placed_traces(template, pod)),
    )


def _placed_traces(template: PodTemplate, pod: Verdict) -> tuple[Trace, ...]:
    for trace in pod.traces:
        trace.path = template.path
    return pod.traces


def _of_template(template: PodTemplate, pod: Verdict, workload: Verdict) -> list[Finding]:
    """What is said of a Pod, without what decoding its workload has found there, too."""
    known = {finding.field for finding in workload.findings if not finding.rules}
    placed = [_placed(finding, template) for finding in pod.findings]
    return [one for one in placed if one.rules or one.field is None or one.field not in known]


def _placed(finding: Finding, template: PodTemplate) -> Finding:
    """The finding about a Pod as one about its template; what nobody knows has no place."""
    if finding.cause is Cause.UNDECIDED and not finding.field:
        return finding
    field = template.field(finding.field) if finding.field else template.path
    details = tuple(_placed(detail, template) for detail in finding.details)
    return finding._replace(field=field, details=details)


# ---------------------------------------------------------------------------------------- previews


def preview_templates(
    chain: Chain, subject: Subject, verdict: Verdict, cluster: Cluster, extra: Places
) -> tuple[list[Json], Verdict]:
    """The admitted Pods of an object's templates to look at, and the verdict with what they add.

    Names are those of the objects; where two objects have one name, the caller tells them apart.
    """
    head, namespace = subject.head, subject.namespace
    pods: list[Json] = []
    findings: list[Finding] = []
    kind = _kind_in_names(head, extra)
    for path in _paths(head, verdict.object, extra):
        template = template_of(head, verdict.object, namespace, path)
        if template is None:
            continue
        admitted = _admit_pod(chain, template, cluster)
        findings += _of_template(template, admitted, verdict)
        verdict = verdict._replace(
            matched=verdict.matched | admitted.matched,
            traces=(*verdict.traces, *_placed_traces(template, admitted)),
        )
        base = head.name or _generate_name(verdict.object).rstrip("-.")
        name = f"{base}-{kind}-pod" + (f"-{len(pods)}" if pods else "")
        pods.append(_preview(template, admitted.object, cut_name(name.removeprefix("-"))))
    if pods and get(verdict.object, ("spec", "replicas")) == 0:
        message = "has no replicas: no Pod like its preview would be there"
        findings.append(Finding(Cause.NOTE, False, message, field=("spec", "replicas")))
    return pods, verdict._replace(findings=(*verdict.findings, *findings))


def is_preview(value: Json) -> bool:
    """Whether an object is a Pod that an earlier run made to be looked at."""
    return get(value, ("metadata", "annotations", PREVIEW_OF), MISSING) is not MISSING


_LONGEST_NAME: Final = 253


def _kind_in_names(head: Head, extra: Places) -> str:
    """How previews name a kind, with its group where another kind has that name before it."""
    kind = head.kind.lower()
    first = next(group for group, one in (*BUILT_IN, *extra) if one.lower() == kind)
    return kind if head.group == first else f"{kind}.{head.group}"


def _preview(template: PodTemplate, pod: Json, name: str) -> Json:
    """An admitted Pod as an object to look at: named, and marked as not to be deployed."""
    head = template.workload
    metadata = pod.get("metadata")
    metadata = metadata if type(metadata) is dict else {}
    # An owner without its uid is refused by the API server, and the uid is not known.
    left_out = ("name", "generateName", "finalizers", "ownerReferences")
    kept = {key: value for key, value in metadata.items() if key not in left_out}
    annotations = metadata.get("annotations")
    annotations = annotations if type(annotations) is dict else {}
    origin = f"{head.api_version}/{head.kind} {head.namespace}/{head.name}".replace(" /", " ")
    marks = {LOCAL_CONFIG: "true", PREVIEW_OF: f"{origin} {format_path(template.path)}"}
    metadata = {"name": name, **kept, "annotations": {**annotations, **marks}}
    return {**pod, "apiVersion": "v1", "kind": "Pod", "metadata": metadata}


def _generate_name(value: Json) -> str:
    name = get(value, ("metadata", "generateName"))
    return name if type(name) is str else ""


def cut_name(name: str) -> str:
    """A name that a Pod may have: a longer one ends in a digest of the whole."""
    if len(name) <= _LONGEST_NAME:
        return name
    import hashlib  # where no Pod is named, it is not needed

    mark = hashlib.sha256(name.encode()).hexdigest()[:10]
    return f"{name[: _LONGEST_NAME - 11]}-{mark}"
