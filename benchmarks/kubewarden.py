"""What Kubewarden policies cost: `python benchmarks/kubewarden.py [OBJECTS]`

Asks a waPC policy in AssemblyScript, which adds an annotation, about Deployments: from requests to
changed objects, and compares in the same process, in turn, with nothing but wasmtime: the same
module with the same payloads, an instance a call. Then the whole way from YAML to YAML. Then the
start: a run without the policy, with the
module compiled before, and with a module in Go's WASI mode compiled before. Needs the modules that
`make wasm` builds.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import wasmtime

from krm_fn import limits
from krm_fn.admission import Cluster, Operation, Request, Rule, RuleRef
from krm_fn.config.options import from_document
from krm_fn.dialects.kubewarden.dialect import DIALECT
from krm_fn.dialects.kubewarden.runtime.flags import make_engine
from krm_fn.dialects.kubewarden.runtime.wapc import Session
from krm_fn.run.admit import admit, stages_of
from krm_fn.wire import read_stream
from tests.compiling import compile_with

ROOT = Path(__file__).resolve().parents[1]
MODULES = ROOT / "tests" / "conformance" / "kubewarden" / "policies" / "wasm"
DEFAULT_OBJECTS = 1_000
ROUNDS = 5
PROCESS_ROUNDS = 7
SETTINGS = {"annotations": {"team": "blue"}}


def deployment(n: int) -> str:
    return f"""apiVersion: apps/v1
kind: Deployment
metadata:
  name: app-{n}
  namespace: shop
  labels: {{app.kubernetes.io/name: app-{n}, app.kubernetes.io/part-of: shop}}
  annotations: {{owner: team-{n % 7}}}
spec:
  replicas: 2
  selector:
    matchLabels: {{app.kubernetes.io/name: app-{n}}}
  template:
    metadata:
      labels: {{app.kubernetes.io/name: app-{n}}}
    spec:
      securityContext: {{runAsNonRoot: true}}
      containers:
      - name: app
        image: registry.example/team/app:{n % 40}
        args: ["--listen=:8080", "--shard={n}"]
        env:
        - {{name: SHARD, value: "{n}"}}
        - name: POD_NAME
          valueFrom: {{fieldRef: {{fieldPath: metadata.name}}}}
        ports:
        - {{name: http, containerPort: 8080}}
        resources:
          requests: {{cpu: 100m, memory: 128Mi}}
          limits: {{memory: 256Mi}}
        readinessProbe:
          httpGet: {{path: /ready, port: http}}
        volumeMounts:
        - {{name: config, mountPath: /etc/app}}
      volumes:
      - name: config
        configMap: {{name: app-{n}}}
"""


def annotated(wasm: bytes, mode: str) -> bytes:
    """A module with metadata."""
    name = b"io.kubewarden.metadata"
    text = json.dumps({"protocolVersion": "v1", "executionMode": mode}).encode()
    body = bytes([len(name)]) + name + text
    assert len(body) < 128
    return wasm + b"\0" + bytes([len(body)]) + body


def policy(module: str, settings: dict[str, Any]) -> dict[str, Any]:
    rule = {
        "apiGroups": ["apps"],
        "apiVersions": ["v1"],
        "resources": ["deployments"],
        "operations": ["*"],
    }
    return {
        "apiVersion": "policies.kubewarden.io/v1",
        "kind": "ClusterAdmissionPolicy",
        "metadata": {"name": "bench"},
        "spec": {
            "module": f"./{module}",
            "mutating": True,
            "rules": [rule],
            "settings": settings,
        },
    }


def admission(*rules: dict[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": "krm-fn.dev/v1alpha1",
        "kind": "Admission",
        "metadata": {"name": "bench"},
        "spec": {
            "rules": [{"inline": json.dumps(rule)} for rule in rules],
            "kubewarden": {"cache": "cache"},
            "idempotency": "Off",
        },
    }


def pipeline(data: bytes) -> Callable[[], None]:
    """From bytes to bytes, through the policy."""
    configuration = from_document(admission(policy("as.wasm", SETTINGS)), "bench")

    def run() -> None:
        with limits.deep_stack():
            stream = read_stream(data)
            report = admit([stream], stages_of(configuration, [stream]))
            out = stream.write(())
        assert not report.denied
        assert out.count(b"team: blue") == data.count(b"kind: Deployment")

    return run


def bare(payloads: list[bytes]) -> Callable[[], None]:
    """The same module with the same payloads, and nothing else."""
    engine = make_engine()
    module = wasmtime.Module(engine, (MODULES / "as-annotate.wasm").read_bytes())
    linker = wasmtime.Linker(engine)
    state: dict[str, bytes] = {}

    def request(caller: Any, operation: int, payload: int) -> None:
        memory = caller["memory"]
        memory.write(caller, b"validate", operation)
        memory.write(caller, state["payload"], payload)

    def response(caller: Any, pointer: int, length: int) -> None:
        state["response"] = bytes(caller["memory"].read(caller, pointer, pointer + length))

    known = {"__guest_request": request, "__guest_response": response}
    for wanted in module.imports:
        assert isinstance(wanted.type, wasmtime.FuncType)
        run = known.get(str(wanted.name), lambda *arguments: None)
        linker.define_func("wapc", str(wanted.name), wanted.type, run, access_caller=True)
    ready = linker.instantiate_pre(module)

    def run_all() -> None:
        for payload in payloads:
            store = wasmtime.Store(engine)
            store.set_fuel(limits.WASM_FUEL)
            store.set_epoch_deadline(1_000_000)
            exports = ready.instantiate(store).exports(store)
            state["payload"] = payload
            exports["wapc_init"](store)
            exports["__guest_call"](store, len(b"validate"), len(payload))
            json.loads(state["response"])

    return run_all


def best_of(first: Callable[[], None], second: Callable[[], None]) -> tuple[float, float]:
    """The best time of each, measured in turn."""
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(ROUNDS):
        for work, found in zip((first, second), times, strict=True):
            started = time.perf_counter()
            work()
            found.append(time.perf_counter() - started)
    return min(times[0]), min(times[1])


def start(folder: Path, name: str, *rules: dict[str, Any]) -> float:
    """The best time of a whole process on one object, in seconds."""
    folder.joinpath(f"{name}.json").write_text(json.dumps(admission(*rules)))
    command = [sys.executable, "-m", "krm_fn", "check", "-q", "-f", "one.yaml", "--config"]
    times = []
    for _ in range(PROCESS_ROUNDS):
        started = time.perf_counter()
        subprocess.run([*command, f"{name}.json"], cwd=folder, check=True)
        times.append(time.perf_counter() - started)
    return min(times)


NO_POLICY = {
    "apiVersion": "api.kubemod.io/v1beta1",
    "kind": "ModRule",
    "metadata": {"name": "none", "namespace": "shop"},
    "spec": {"type": "Reject", "match": [{"select": "$.spec.replicas == 99"}]},
}
"""A rule that looks at the object, so that both runs show it as the API server does."""


def payloads(data: bytes) -> list[bytes]:
    """What the policy was sent, recorded from a run of the pipeline."""
    seen: list[bytes] = []
    call = Session.call

    def record(self: Session, operation: str, payload: bytes) -> bytes:
        if operation == "validate":
            seen.append(payload)
        return call(self, operation, payload)

    Session.call = record  # type: ignore[method-assign]
    try:
        pipeline(data)()
    finally:
        Session.call = call  # type: ignore[method-assign]
    return seen


def asked(data: bytes) -> Callable[[], None]:
    """From requests to changed objects: the policy's share of the pipeline."""
    cluster = Cluster()
    rule = Rule(
        RuleRef("kubewarden", "ClusterAdmissionPolicy", "", "bench"), policy("as.wasm", SETTINGS)
    )
    (plugin,) = compile_with(DIALECT, [rule], cluster).plugins
    resource_ = cluster.resource_for("apps", "Deployment")
    requests = [
        Request(Operation.CREATE, item.head, resource_, "shop", item.value)
        for item in read_stream(data).items
    ]

    def run() -> None:
        for request in requests:
            assert plugin.admit(request, cluster).object is not None

    return run


def report(title: str, seconds: float, count: int) -> None:
    print(f"{title:36}{seconds:6.2f} s {seconds / count * 1e3:6.2f} ms each")


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else DEFAULT_OBJECTS
    with tempfile.TemporaryDirectory() as name:
        os.chdir(name)
        measure(Path(name), count)
        os.chdir(ROOT)


def measure(folder: Path, count: int) -> None:
    for module, name, mode in (
        ("as-annotate", "as", "kubewarden-wapc"),
        ("go-labels", "go", "wasi"),
    ):
        wasm = (MODULES / f"{module}.wasm").read_bytes()
        folder.joinpath(f"{name}.wasm").write_bytes(annotated(wasm, mode))
    folder.joinpath("one.yaml").write_text(deployment(0))
    data = "---\n".join(deployment(n) for n in range(count)).encode()
    sent = payloads(data)
    print(f"{count} Deployments of {len(data) // count} bytes, payloads of {len(sent[0])} bytes")
    policy_, calls = best_of(asked(data), bare(sent))
    whole, _ = best_of(pipeline(data), lambda: None)
    report("bare wasmtime calls", calls, count)
    report("requests to changed objects", policy_, count)
    print(f"{'ratio of these two':36}{policy_ / calls:6.2f}")
    report("YAML to YAML, policy included", whole, count)
    without = start(folder, "without", NO_POLICY)
    settings: dict[str, Any]
    for title, module, settings in (("waPC, 8 KB", "as", SETTINGS), ("Go WASI, 3.6 MB", "go", {})):
        rules = (NO_POLICY, policy(f"{module}.wasm", settings))
        start(folder, "warm", *rules)
        warm = start(folder, "warm", *rules)
        print(f"start, {title}, compiled before: {without:.3f} s without, +{warm - without:.3f} s")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    children = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
    print(f"peak memory: {peak} MiB here, {children} MiB in a run on one object that compiles")


if __name__ == "__main__":
    main()
