"""What the served form costs: `python benchmarks/served.py [OBJECTS]`

Serves a mix of objects as people write them, and compares in the same process, in turn, with
`json.loads(json.dumps(object))` of the same objects. Also what one kind needs of the schema table.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import Any

from krm_fn.kube.schema import RELEASES, Schemas, Value
from krm_fn.kube.served import Served

DEFAULT_OBJECTS = 10_000
ROUNDS = 5

Json = dict[str, Any]


def pod_spec(n: int) -> Json:
    return {
        "serviceAccountName": f"app-{n}",
        "securityContext": {"runAsNonRoot": True, "fsGroup": 1000},
        "containers": [
            {
                "name": "app",
                "image": f"registry.example/team/app:{n % 40}",
                "args": ["--listen=:8080", f"--shard={n}"],
                "env": [
                    {"name": "SHARD", "value": str(n)},
                    {
                        "name": "POD_NAME",
                        "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}},
                    },
                ],
                "ports": [{"name": "http", "containerPort": 8080}],
                "resources": {
                    "requests": {"cpu": "100m", "memory": "128Mi"},
                    "limits": {"memory": "256Mi"},
                },
                "readinessProbe": {"httpGet": {"path": "/ready", "port": "http"}},
                "volumeMounts": [{"name": "config", "mountPath": "/etc/app"}],
            },
        ],
        "volumes": [{"name": "config", "configMap": {"name": f"app-{n}"}}],
    }


def metadata(n: int) -> Json:
    labels = {"app.kubernetes.io/name": f"app-{n}", "app.kubernetes.io/part-of": "shop"}
    return {"name": f"app-{n}", "namespace": "shop", "labels": labels}


def deployment(n: int) -> Json:
    labels = {"app.kubernetes.io/name": f"app-{n}"}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": metadata(n),
        "spec": {
            "replicas": 2,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": pod_spec(n)},
        },
    }


def pod(n: int) -> Json:
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata(n), "spec": pod_spec(n)}


def service(n: int) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": metadata(n),
        "spec": {
            "selector": {"app.kubernetes.io/name": f"app-{n}"},
            "ports": [{"name": "http", "port": 80, "targetPort": "http"}],
        },
    }


def config_map(n: int) -> Json:
    data = {f"key-{i}": f"value {i} of {n}" for i in range(10)}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata(n), "data": data}


def ingress(n: int) -> Json:
    backend = {"service": {"name": f"app-{n}", "port": {"name": "http"}}}
    path = {"path": "/", "pathType": "Prefix", "backend": backend}
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "Ingress",
        "metadata": metadata(n),
        "spec": {"rules": [{"host": f"app-{n}.example", "http": {"paths": [path]}}]},
    }


def role(n: int) -> Json:
    rules = [
        {"apiGroups": [""], "resources": ["pods", "services"], "verbs": ["get", "list", "watch"]},
        {"apiGroups": ["apps"], "resources": ["deployments"], "verbs": ["*"]},
    ]
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "Role",
        "metadata": metadata(n),
        "rules": rules,
    }


MIX: list[Callable[[int], Json]] = [deployment, service, config_map, ingress, role, pod]


def seconds(work: Callable[[Json], Any], objects: list[Json]) -> float:
    start = time.perf_counter()
    for value in objects:
        work(value)
    return time.perf_counter() - start


def main(count: int) -> None:
    objects = [MIX[n % len(MIX)](n) for n in range(count)]
    server = Served(Schemas())

    def serve(value: Json) -> Any:
        return server.form(value)

    def copy(value: Json) -> Any:
        return json.loads(json.dumps(value))

    serve(deployment(0))
    kinds: list[tuple[str, list[Json]]] = [("mixed", objects)]
    kinds += [(make.__name__, objects[n :: len(MIX)]) for n, make in enumerate(MIX)]
    print(f"{count:,} objects, the best of {ROUNDS} rounds")
    for name, some in kinds:
        times = [(seconds(copy, some), seconds(serve, some)) for _ in range(ROUNDS)]
        base, served = min(t[0] for t in times), min(t[1] for t in times)
        each = 1e6 / len(some)
        print(
            f"{name:12} {served * each:6.1f} us an object, "
            f"{served / base:4.2f} x json.loads(json.dumps()) ({base * each:.1f} us)"
        )
    again = [server.form(value).object for value in objects]
    print(f"{'served again':12} {seconds(serve, again) / count * 1e6:6.1f} us an object")
    for release in RELEASES:
        table = min(load(release) for _ in range(ROUNDS))
        first = min(serve_first(release) for _ in range(ROUNDS))
        print(
            f"{release}: {table * 1e3:.2f} ms to read all types of a Deployment, "
            f"{first * 1e3:.2f} ms to serve a first one"
        )


def load(release: str) -> float:
    """Read what the table says of a kind, down to the last type that it can hold."""
    start = time.perf_counter()
    schema = Schemas(release).kind("apps/v1", "Deployment")
    assert schema is not None
    seen: set[str] = set()
    pending = [schema.struct]
    while pending:
        struct = pending.pop()
        if struct.name not in seen:
            seen.add(struct.name)
            types = [field.type for field in struct.fields.values()]
            types = [type_.element or type_ for type_ in types]
            pending += [type_.struct for type_ in types if type_.value is Value.STRUCT]
    return time.perf_counter() - start


def serve_first(release: str) -> float:
    """Read what a first object needs of the table, compile it and serve the object."""
    start = time.perf_counter()
    Served(Schemas(release)).form(deployment(0))
    return time.perf_counter() - start


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else DEFAULT_OBJECTS)
