"""The served form on any manifest and any edit: it is stable, and edits come back."""

from __future__ import annotations

import copy
from contextlib import suppress
from typing import Any

from fuzz_support import bounded
from hypothesis import given
from hypothesis import strategies as st

from krm_fn.errors import DecodeError
from krm_fn.kube.schema import Schemas
from krm_fn.kube.served import Served
from krm_fn.kube.writeback import write_back
from krm_fn.values import Json, diff, equal

SERVED = Served(Schemas())

names = st.sampled_from(["a", "b", "c"])
quantities = st.sampled_from(["1", "1000m", "0.5", "1Gi", "1024Mi", "1e3", 2])
maybe = st.none() | st.just({})


def some(**members: st.SearchStrategy[Any]) -> st.SearchStrategy[Json]:
    """Maps of which every member may be missing."""
    return st.fixed_dictionaries({}, optional=members)


probes = some(
    httpGet=some(port=st.sampled_from([80, "http"]), path=st.just("/x"), scheme=st.just("HTTPS")),
    periodSeconds=st.sampled_from([0, 5, 10]),
    timeoutSeconds=st.integers(0, 2),
)
ports = some(
    containerPort=st.sampled_from([80, 443]),
    name=names,
    protocol=st.sampled_from(["TCP", "UDP", ""]),
)
resources = some(
    limits=st.dictionaries(st.sampled_from(["cpu", "memory"]), quantities) | maybe,
    requests=st.dictionaries(st.sampled_from(["cpu", "memory"]), quantities) | maybe,
)
containers = st.lists(
    some(
        name=names,
        image=st.sampled_from(["app", "app:1", "app:latest", "APP:1"]),
        imagePullPolicy=st.sampled_from(["Always", "Never", ""]),
        ports=st.lists(ports, max_size=3) | st.none(),
        resources=resources | st.none(),
        livenessProbe=probes | maybe,
        env=st.lists(some(name=names, value=st.sampled_from(["", "x"])), max_size=3),
        unknown=st.just(1),
    ),
    max_size=3,
    unique_by=lambda c: c.get("name"),
)
pod_specs = some(
    containers=containers,
    initContainers=containers | st.none(),
    restartPolicy=st.sampled_from(["Always", "Never", ""]),
    serviceAccountName=names,
    serviceAccount=names,
    terminationGracePeriodSeconds=st.sampled_from([0, 30, 60, -1]),
    hostNetwork=st.booleans(),
    volumes=st.lists(some(name=names, emptyDir=st.just({}), secret=some(secretName=names))),
    dnsPolicy=st.sampled_from(["", "Default"]),
)
labels = st.dictionaries(names, names, max_size=2)
metadata = some(name=names, labels=labels | maybe, annotations=labels | st.none())
templates = some(metadata=some(labels=labels), spec=pod_specs)


def of_kind(api_version: str, kind: str, **members: st.SearchStrategy[Any]) -> Any:
    required = {"apiVersion": st.just(api_version), "kind": st.just(kind)}
    return st.fixed_dictionaries(required, optional={"metadata": metadata, **members})


rolling = some(maxSurge=st.sampled_from([1, "25%"]), maxUnavailable=st.sampled_from([0, "10%"]))
strategies = some(type=st.sampled_from(["RollingUpdate", "Recreate", ""]), rollingUpdate=rolling)
selectors = some(matchLabels=labels)
deployments = of_kind(
    "apps/v1",
    "Deployment",
    spec=some(
        replicas=st.integers(0, 3) | st.none(),
        strategy=strategies | maybe,
        template=templates,
        selector=selectors,
        paused=st.booleans(),
    ),
)
stateful_sets = of_kind(
    "apps/v1",
    "StatefulSet",
    spec=some(
        updateStrategy=some(
            type=st.sampled_from(["RollingUpdate", "OnDelete"]),
            rollingUpdate=some(partition=st.integers(0, 2)),
        ),
        template=templates,
        volumeClaimTemplates=st.lists(some(metadata=metadata), max_size=2),
    ),
)
jobs = of_kind(
    "batch/v1",
    "Job",
    spec=some(completions=st.integers(0, 2), parallelism=st.integers(0, 2), template=templates),
)
pods = of_kind("v1", "Pod", spec=pod_specs)
services = of_kind(
    "v1",
    "Service",
    spec=some(
        type=st.sampled_from(["ClusterIP", "NodePort", "LoadBalancer", "ExternalName", ""]),
        sessionAffinity=st.sampled_from(["None", "ClientIP"]),
        ports=st.lists(
            some(
                port=st.sampled_from([80, 443]), name=names, targetPort=st.sampled_from([8080, "x"])
            ),
            max_size=3,
        ),
    ),
)
secrets = of_kind(
    "v1",
    "Secret",
    data=st.dictionaries(names, st.sampled_from(["YQ==", "/w=="]), max_size=2) | st.none(),
    stringData=st.dictionaries(names, st.sampled_from(["a", "b"]), max_size=2) | st.none(),
    type=st.sampled_from(["Opaque", "kubernetes.io/tls"]),
)
policies = of_kind(
    "networking.k8s.io/v1",
    "NetworkPolicy",
    spec=some(
        policyTypes=st.lists(st.sampled_from(["Ingress", "Egress"]), unique=True),
        egress=st.lists(some(ports=st.lists(some(port=st.just(80)), max_size=1)), max_size=2),
    ),
)
kinds = [deployments, stateful_sets, jobs, pods, services, secrets, policies]
manifests = st.one_of(*kinds)
pairs = st.one_of(*(st.tuples(kind, kind) for kind in kinds))


def show(value: Json) -> Json:
    return SERVED.form(value).object


@bounded(200)
@given(manifests)
def test_what_is_served_is_served_as_it_is_and_nothing_is_changed_on_the_way(value: Json) -> None:
    before = copy.deepcopy(value)
    shown = show(value)
    assert value == before
    assert equal(show(shown), shown)


@bounded(300)
@given(pairs)
def test_an_edit_comes_back_as_a_manifest_that_is_served_the_same(pair: tuple[Json, Json]) -> None:
    written, other = pair
    shown, admitted = show(written), show(other)
    result = write_back(written, shown, admitted, show)
    assert equal(result.shown, show(result.written))
    if not result.lost:
        assert equal(result.shown, show(admitted))


@bounded(200)
@given(manifests)
def test_no_edit_is_no_edit(value: Json) -> None:
    assert write_back(value, show(value), show(value), show).written is value


def leaves(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    if isinstance(value, dict):
        return [leaf for k, v in value.items() for leaf in leaves(v, (*path, k))]
    if isinstance(value, list):
        return [leaf for n, v in enumerate(value) for leaf in leaves(v, (*path, n))]
    return [path]


@bounded(300)
@given(deployments, st.data())
def test_a_number_that_is_changed_moves_nothing_else(value: Json, data: st.DataObject) -> None:
    shown = show(value)
    numbers = [
        path
        for path in leaves(shown)
        if path[-1] in ("replicas", "revisionHistoryLimit", "progressDeadlineSeconds")
    ]
    path = data.draw(st.sampled_from(numbers))
    admitted = {**shown, "spec": {**shown["spec"], path[-1]: 7}}
    result = write_back(value, shown, admitted, show)
    assert result.lost == ()
    assert [edit.path for edit in diff(value, result.written)] in ([path], [("spec",)])


keys = st.sampled_from(
    ["spec", "metadata", "containers", "ports", "data", "labels", "template", "x"]
)
shapes = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=4),
    max_leaves=20,
)
VERSIONS = {"Pod": "v1", "Secret": "v1", "Deployment": "apps/v1", "Job": "batch/v1"}


@bounded(300)
@given(st.dictionaries(keys, shapes), st.sampled_from(sorted(VERSIONS)))
def test_any_shape_is_served_or_refused_with_a_documented_error(body: Json, kind: str) -> None:
    with suppress(DecodeError):
        show({**body, "apiVersion": VERSIONS[kind], "kind": kind})
