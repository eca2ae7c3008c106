"""What plugins do with what a render knows and does not know; the rest is in the vectors."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from builtin_support import cluster, in_team, listers, named, pod, request

from krm_fn.admission import Cause, Finding
from krm_fn.dialects.builtin.catalog import plugins
from krm_fn.dialects.builtin.certificates import CertificateSubjectRestriction
from krm_fn.dialects.builtin.defaultclass import DefaultStorageClass
from krm_fn.dialects.builtin.limitranger import LimitRanger
from krm_fn.dialects.builtin.listers import Listers
from krm_fn.dialects.builtin.namespaces import NamespaceExists, NamespaceLifecycle
from krm_fn.dialects.builtin.order import NAMES, Part
from krm_fn.dialects.builtin.plugin import BuiltIn, Denied
from krm_fn.dialects.builtin.podsecurity import PodSecurity
from krm_fn.dialects.builtin.priority import Priority
from krm_fn.dialects.builtin.runtimeclass import RuntimeClass
from krm_fn.dialects.builtin.serviceaccount import ServiceAccount
from krm_fn.values import Json, get

SCHEDULING = "scheduling.k8s.io/v1"


def refusal(plugin: BuiltIn, value: Json, known: Listers) -> str:
    """What a plugin refuses an object with, "" where it does not."""
    try:
        plugin.admit(request(value), known)
        plugin.validate(request(value), known)
    except Denied as denied:
        return denied.message
    return ""


def test_every_plugin_of_a_render_is_in_the_catalog() -> None:
    rendered = {name for name, plugin in NAMES.items() if plugin.part is Part.RENDERED}
    assert [plugin.name for plugin in plugins(rendered, {})] == [n for n in NAMES if n in rendered]


UNKNOWN = [
    (Priority(), pod(priorityClassName="high"), "PriorityClass high"),
    (RuntimeClass(), pod(runtimeClassName="gvisor"), "RuntimeClass gvisor"),
]


@pytest.mark.parametrize(("plugin", "value", "what"), UNKNOWN)
def test_a_class_that_is_not_known_is_undecided_and_nothing_is_set(
    plugin: BuiltIn, value: Json, what: str
) -> None:
    response = plugin.admit(request(value), listers())
    assert response.object is None
    (finding,) = response.findings
    assert finding.cause is Cause.UNDECIDED
    assert what in finding.message
    assert "context.objects" in finding.message


NOT_FOUND = [
    (Priority(), pod(priorityClassName="high"), "no PriorityClass with name high was found"),
    (RuntimeClass(), pod(runtimeClassName="x"), 'pod rejected: RuntimeClass "x" not found'),
    (
        ServiceAccount(),
        pod(serviceAccountName="bot"),
        'error looking up service account team/bot: serviceaccount "bot" not found',
    ),
]


@pytest.mark.parametrize(("plugin", "value", "detail"), NOT_FOUND)
def test_what_is_not_there_is_refused_where_all_of_its_kind_are_known(
    plugin: BuiltIn, value: Json, detail: str
) -> None:
    assert refusal(plugin, value, listers(complete=True)) == f'pods "p" is forbidden: {detail}'


@pytest.mark.parametrize("plugin", [NamespaceLifecycle(), NamespaceExists()])
def test_a_namespace_that_nobody_knows_is_missing_only_where_all_are_known(plugin: BuiltIn) -> None:
    assert refusal(plugin, pod(), listers()) == ""
    assert refusal(plugin, pod(), listers(complete=True)) == 'namespaces "team" not found'
    assert refusal(plugin, pod(), listers(named("Namespace", "team"), complete=True)) == ""


def test_another_account_that_is_not_known_is_taken_for_an_empty_one_and_noted() -> None:
    response = ServiceAccount().admit(request(pod(serviceAccountName="bot")), listers())
    assert get(response.object, ("spec", "volumes", 0, "projected")) is not None
    (note,) = response.findings
    assert note.cause is Cause.NOTE
    assert "ServiceAccount team/bot" in note.message


def test_the_default_account_is_there_without_being_given() -> None:
    response = ServiceAccount().admit(request(pod()), listers(complete=True))
    assert response.findings == ()
    assert get(response.object, ("spec", "serviceAccountName")) == "default"


def test_the_token_volume_is_named_alike_in_every_run_and_after_its_pod() -> None:
    def name(value: Json) -> str:
        response = ServiceAccount().admit(request(value), listers())
        return str(get(response.object, ("spec", "volumes", 0, "name")))

    assert name(pod()) == name(pod())
    assert name(pod()) != name(pod("q"))


def test_labels_that_are_not_known_are_undecided() -> None:
    (finding,) = PodSecurity().validate(request(pod()), listers()).findings
    assert finding.cause is Cause.UNDECIDED
    assert "namespace team" in finding.message


def standard(name: str) -> Json:
    return named("PriorityClass", name, SCHEDULING, value=1, globalDefault=True)


def test_of_two_default_classes_that_are_created_the_second_is_refused() -> None:
    known = listers(standard("b"), standard("a"))
    assert refusal(Priority(), standard("b"), known) == ""
    assert "PriorityClass b is already marked as default" in refusal(
        Priority(), standard("a"), known
    )


def limit_range(name: str, **item: Any) -> Json:
    return in_team("LimitRange", name, spec={"limits": [{"type": "Container", **item}]})


def test_limit_ranges_count_by_name_and_the_first_gives_the_default() -> None:
    known = listers(
        limit_range("b", default={"cpu": "2", "memory": "1Gi"}),
        limit_range("a", default={"cpu": "1"}),
    )
    response = LimitRanger().admit(request(pod()), known)
    limits = get(response.object, ("spec", "containers", 0, "resources", "limits"))
    assert limits == {"cpu": "1", "memory": "1Gi"}
    annotation = ("metadata", "annotations", "kubernetes.io/limit-ranger")
    said = "LimitRanger plugin set: memory request for container c; memory limit for container c"
    assert get(response.object, annotation) == said


def test_an_object_that_nothing_is_missing_in_stays_the_same_object() -> None:
    known = listers(limit_range("a", default={"cpu": "1"}))
    asked = request(pod())
    first = LimitRanger().admit(asked, known).object
    assert first is not None
    assert LimitRanger().admit(asked._replace(object=first), known).object is None


def test_the_newest_of_several_default_classes_counts_and_without_times_the_first_by_name() -> None:
    marked = {"storageclass.kubernetes.io/is-default-class": "true"}

    def storage_class(name: str) -> Json:
        value = named("StorageClass", name, "storage.k8s.io/v1", provisioner="x")
        return {**value, "metadata": {"name": name, "annotations": marked}}

    claim = in_team(
        "PersistentVolumeClaim",
        "c",
        spec={"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    )
    known = listers(storage_class("b"), storage_class("a"))
    response = DefaultStorageClass().admit(request(claim), known)
    assert get(response.object, ("spec", "storageClassName")) == "a"


def test_what_is_made_of_all_objects_of_a_kind_is_made_once() -> None:
    known = Listers(cluster(), frozenset(), (1, 36))
    asked: list[int] = []

    def fact() -> int:
        asked.append(1)
        return len(asked)

    assert [known.once("fact", fact) for _ in range(3)] == [1, 1, 1]


def signing_request(der: bytes) -> Json:
    body = base64.encodebytes(der).decode()
    pem = f"-----BEGIN CERTIFICATE REQUEST-----\n{body}-----END CERTIFICATE REQUEST-----\n"
    return named(
        "CertificateSigningRequest",
        "r",
        "certificates.k8s.io/v1",
        spec={
            "request": base64.b64encode(pem.encode()).decode(),
            "signerName": "kubernetes.io/kube-apiserver-client",
            "usages": ["client auth"],
        },
    )


def der(tag: int, *parts: bytes) -> bytes:
    """A DER value with a length in the long form where it needs one."""
    content = b"".join(parts)
    size = len(content)
    length = bytes((size,)) if size < 128 else bytes((0x82, size >> 8, size & 255))
    return bytes((tag,)) + length + content


def subject(organization: str, tag: int = 0x0C, encoding: str = "utf-8") -> bytes:
    oid = der(0x06, bytes((0x55, 0x04, 0x0A)))
    name = der(0x31, der(0x30, oid, der(tag, organization.encode(encoding))))
    padding = der(0x04, b"x" * 200)
    info = der(0x30, der(0x02, b"\0"), der(0x30, name), padding)
    return der(0x30, info)


SUBJECTS = [
    (subject("system:masters"), True),
    (subject("system:masters", 0x13, "ascii"), True),
    (subject("system:masters", 0x1E, "utf-16-be"), True),
    (subject("system:master"), False),
    (subject("system:masters", 0x04), False),
    (subject("system:masters")[:-150], False),
    (b"", False),
    (b"\x30\x84\xff\xff\xff\xff", False),
]


@pytest.mark.parametrize(("request_of", "refused"), SUBJECTS)
def test_a_certificate_for_the_group_of_masters_is_refused(
    request_of: bytes, refused: bool
) -> None:
    said = refusal(CertificateSubjectRestriction(), signing_request(request_of), listers())
    assert ("system:masters group is not allowed" in said) is refused


def test_a_refusal_becomes_a_finding_with_the_servers_code_and_reason() -> None:
    plugin = NamespaceLifecycle()
    with pytest.raises(Denied) as denied:
        plugin.admit(request(pod()), listers(complete=True))
    finding = plugin.denial(denied.value)
    assert isinstance(finding, Finding)
    assert (finding.cause, finding.denies, finding.code, finding.reason) == (
        Cause.REJECTED,
        True,
        404,
        "NotFound",
    )
    assert str(finding.rules[0]) == "AdmissionPlugin NamespaceLifecycle"
