"""Time krm-fn on lists of 10 to 10,000 items, in turn with programs that make the same changes.

The peers: a script with PyYAML's CSafeLoader and CSafeDumper; a KRM function in Go on kyaml
(`benchmarks/peers/kyaml`, built here where go is installed); krm-fn itself without its quick ways
of reading (`KRM_FN_WIRE=reference`). All run as whole processes, one after the other in each round,
so that ratios hold when the machine's speed drifts. Prints medians, ratios and peak memory:
`python benchmarks/lists.py [--rounds N] [--sizes N ...] [--plot FILE]` (a plot needs matplotlib,
extra `bench`).
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
SIZES = (10, 100, 1_000, 10_000)
SHARES = (0, 10, 100)

RULES = """\
    apiVersion: api.kubemod.io/v1beta1
    kind: ModRule
    metadata: {name: touch, namespace: bench}
    spec:
      type: Patch
      match:
      - select: $.kind
        matchValue: Deployment
      - select: $.metadata.labels.touch
        matchValue: "yes"
      patch:
      - op: add
        path: /metadata/labels/team
        value: platform
      - op: replace
        path: /spec/replicas
        value: "5"
      - op: add
        path: /spec/template/spec/containers/-1
        value: |-
          name: sidecar
          image: registry.example.com/sidecar:1.0
"""

DEPLOYMENT = """\
# Deployment number {n}
- apiVersion: apps/v1
  kind: {kind}
  metadata:
    name: web-{n}
    namespace: bench
    labels:
      app: web-{n}
      touch: "{touch}"   # decides whether the rule applies
    annotations:
      internal.config.kubernetes.io/path: 'bench/web-{n}.yaml'
      internal.config.kubernetes.io/index: '0'
      example.com/description: |
        The front of shop {n}.
        It has a text of several lines, as many objects do, with "quotes" and # no comment.
  spec:
    replicas: 2
    revisionHistoryLimit: 5
    selector:
      matchLabels: {{app: web-{n}}}
    template:
      metadata:
        labels: {{app: web-{n}}}
      spec:
        serviceAccountName: web
        terminationGracePeriodSeconds: 30
        containers:
        # the server itself
        - name: web
          image: "registry.example.com/web:1.{n}.0"
          args: ["--listen=:8080", '--log-level=info']
          env:
          - name: REGION
            value: eu-central-1
          - name: PASSWORD
            valueFrom:
              secretKeyRef:
                name: web-{n}
                key: password
          ports:
          - containerPort: 8080
            name: http
          resources:
            requests: {{cpu: 100m, memory: 128Mi}}
            limits:
              memory: 256Mi
          readinessProbe:
            httpGet:
              path: /healthz
              port: http
            periodSeconds: 10
          volumeMounts:
          - name: settings
            mountPath: /etc/web
            readOnly: true
        - name: cache
          image: 'registry.example.com/redis:7.2'
          command: [redis-server, "--maxmemory", 64mb]
          securityContext:
            runAsNonRoot: true
            capabilities: {{drop: [ALL]}}
          ports:
          - {{containerPort: 6379, name: redis}}
          livenessProbe:
            tcpSocket:
              port: redis
            initialDelaySeconds: 5
        volumes:
        - name: settings
          configMap:
            name: web-{n}
        affinity:
          podAntiAffinity:
            preferredDuringSchedulingIgnoredDuringExecution:
            - weight: 100
              podAffinityTerm:
                topologyKey: kubernetes.io/hostname
                labelSelector:
                  matchLabels:
                    app: web-{n}
"""
CUSTOM = """\
- apiVersion: example.com/v1
  kind: Shop
  metadata:
    name: shop-{n}
    namespace: bench
    annotations:
      internal.config.kubernetes.io/path: 'bench/shop-{n}.yaml'
  spec:
    owner: team-{n}
    script: |
      #!/bin/sh
      for i in 1 2 3; do
        echo "round $i of shop {n}"
      done
    shelves:
{shelves}"""
SHELF = "    - {{name: shelf-{i}, height: {i}, goods: [bread, butter, 'jam {i}']}}\n"

PEER = """\
import sys, yaml
data = yaml.load(sys.stdin.buffer, Loader=yaml.CSafeLoader)
for item in data["items"]:
    if item["kind"] == "Deployment" and item["metadata"]["labels"].get("touch") == "yes":
        item["metadata"]["labels"]["team"] = "platform"
        item["spec"]["replicas"] = 5
        item["spec"]["template"]["spec"]["containers"].append(
            {"name": "sidecar", "image": "registry.example.com/sidecar:1.0"})
yaml.dump(data, sys.stdout, Dumper=yaml.CSafeDumper, sort_keys=False)
"""


OPTIONS = {
    "written": "    idempotency: 'Off'\n    objectForm: AsWritten\n",
    "defaults": "",
    "served": "    idempotency: 'Off'\n",
    "idempotency": "    objectForm: AsWritten\n",
    "strict": "    idempotency: 'Off'\n    objectForm: AsWritten\n    strict: true\n",
    "regex": "    idempotency: 'Off'\n    objectForm: AsWritten\n",
}
"""Ways to run: the first is what the targets are for, then the defaults, then one by one."""


def make_list(count: int, share: int, way: str = "written", *, candidates: bool = False) -> str:
    """A ResourceList of `count` items of about 2 KB, of which `share` percent are changed.

    Those are Deployments. The others are StatefulSets and custom resources, which the rule cannot
    match; with `candidates` they are Deployments, too, that a label makes it leave alone.
    """
    parts = ["apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n"]
    for n in range(count):
        if n * share // 100 != (n + 1) * share // 100:
            parts.append(DEPLOYMENT.format(n=n, kind="Deployment", touch="yes"))
        elif n % 3 == 2:
            shelves = "".join(SHELF.format(i=i) for i in range(22))
            parts.append(CUSTOM.format(n=n, shelves=shelves))
        else:
            kind = "Deployment" if candidates else "StatefulSet"
            parts.append(DEPLOYMENT.format(n=n, kind=kind, touch="no"))
    parts.append(
        "functionConfig:\n  apiVersion: krm-fn.dev/v1alpha1\n  kind: Admission\n"
        "  metadata: {name: bench}\n  spec:\n    results: {changes: false}\n"
        f"{OPTIONS[way]}    rules:\n    - inline: |\n"
    )
    rules = RULES
    if way == "regex":
        rules = rules.replace("matchValue: Deployment", 'matchRegex: "^Deploy(ment)?$"')
    parts += [f"    {line}\n" for line in rules.splitlines()]
    return "".join(parts)


@dataclass
class Program:
    """A program that is timed, and its runs on each list: seconds and KiB."""

    name: str
    command: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=dict)
    seconds: dict[str, list[float]] = field(default_factory=dict)
    memory: dict[str, list[int]] = field(default_factory=dict)

    def run(self, source: Path, *, record: bool = True) -> None:
        start = time.perf_counter()
        with source.open("rb") as stdin, open(os.devnull, "wb") as nowhere:
            process = subprocess.Popen(
                self.command,
                stdin=stdin,
                stdout=nowhere,
                stderr=nowhere,
                cwd=HERE.parent,
                # Compiled modules, as an installation has them.
                env={**os.environ, "PYTHONDONTWRITEBYTECODE": "", **self.environment},
            )
            _, status, usage = os.wait4(process.pid, 0)
        taken = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise SystemExit(f"{self.name} failed on {source.name}")
        if record:
            self.seconds.setdefault(source.name, []).append(taken)
            self.memory.setdefault(source.name, []).append(usage.ru_maxrss)

    def median(self, name: str) -> float:
        return statistics.median(self.seconds[name])

    def ratio(self, other: Program, name: str) -> float:
        """The median of the rounds' ratios: this one's time in each to the other's."""
        pairs = zip(self.seconds[name], other.seconds[name], strict=True)
        return statistics.median(a / b for a, b in pairs)

    def peak(self, name: str) -> float:
        """MB."""
        return statistics.median(self.memory[name]) / 1024


def programs(folder: Path) -> list[Program]:
    """krm-fn, then its peers as far as they are there."""
    script = folder / "peer.py"
    script.write_text(PEER)
    python = [sys.executable, "-I"]
    ours = Program("krm-fn", [sys.executable, "-m", "krm_fn"])
    found = [
        ours,
        Program("reference path", ours.command, {"KRM_FN_WIRE": "reference"}),
        Program("PyYAML", [*python, str(script)]),
    ]
    if shutil.which("go") is None:
        print("go is not installed: the function on kyaml is left out")
        return found
    binary = folder / "kyaml"
    subprocess.run(["go", "build", "-o", str(binary), "."], cwd=HERE / "peers/kyaml", check=True)
    return [*found, Program("kyaml (Go)", [str(binary)])]


def compare(found: list[Program], source: Path, rounds: int) -> None:
    """Run all on a list, in turn in each round."""
    for program in found:
        program.run(source, record=False)
    for _ in range(rounds):
        for program in found:
            program.run(source)


def row(found: list[Program], name: str, label: str) -> str:
    ours, *peers = found
    cells = [label, f"{ours.median(name):.3f} s"]
    cells += [f"{ours.ratio(peer, name):.3f}" for peer in peers]
    cells.append(f"{ours.peak(name):.0f} MB")
    cells += [f"{ours.peak(name) / peer.peak(name):.2f}" for peer in peers[1:]]
    return f"| {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--sizes", type=int, nargs="*", default=list(SIZES))
    parser.add_argument("--plot", metavar="FILE")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        found = programs(folder)
        names = [program.name for program in found[1:]]
        heads = ["items, changed", "krm-fn", *(f"to {name}" for name in names), "peak"]
        heads += [f"to {name}" for name in names[1:]]
        print(f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}")
        for size in options.sizes:
            for share in SHARES if size >= 1_000 else (100,):
                source = folder / f"{size}-{share}"
                source.write_text(make_list(size, share))
                compare(found, source, options.rounds)
                print(row(found, source.name, f"{size:,}, {share} %"), flush=True)
        ways(found[:1], folder, max(s for s in options.sizes if s <= 1_000), options.rounds)
        if options.plot:
            plot(found, options.sizes, Path(options.plot))


def ways(found: list[Program], folder: Path, size: int, rounds: int) -> None:
    """What each option costs: krm-fn with it, to krm-fn as the targets have it."""
    (ours,) = found
    cases = [(way, way, 10, False) for way in OPTIONS]
    cases.append(("all are candidates", "written", 10, True))
    for name, way, share, candidates in cases:
        (folder / name).write_text(make_list(size, share, way, candidates=candidates))
        ours.run(folder / name, record=False)
    for _ in range(rounds):
        for name, *_ in cases:
            ours.run(folder / name)
    base = Program(ours.name, ours.command, seconds=dict(ours.seconds))
    print(f"\n| {size:,} items, 10 % changed | krm-fn | to the first |\n|---|---|---|")
    for name, *_ in cases:
        base.seconds[name] = ours.seconds[cases[0][0]]
        print(f"| {name} | {ours.median(name):.3f} s | {ours.ratio(base, name):.2f} |")


def plot(found: list[Program], sizes: Sequence[int], file: Path) -> None:
    """Time and memory against the number of items, where a tenth of them is changed."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    figure, (time_axis, memory_axis) = pyplot.subplots(1, 2, figsize=(10, 4), layout="constrained")
    for program in found:
        names = [f"{size}-{10 if size >= 1_000 else 100}" for size in sizes]
        time_axis.plot(sizes, [program.median(n) for n in names], marker="o", label=program.name)
        memory_axis.plot(sizes, [program.peak(n) for n in names], marker="o", label=program.name)
    for axis, title in ((time_axis, "seconds"), (memory_axis, "MB at the peak")):
        axis.set_xscale("log")
        axis.set_yscale("log")
        axis.set_xlabel("items")
        axis.set_title(title)
        axis.grid(visible=True, which="both", alpha=0.3)
    time_axis.legend()
    figure.savefig(file)


if __name__ == "__main__":
    main()
