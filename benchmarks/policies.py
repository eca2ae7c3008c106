"""Time admission policies: 10,000 Pods through one policy with two conditions and one mutation.

Beside it, in turn, as many evaluations of one ModRule with two criteria and one patch that does the
same. Whole processes, medians; then one Pod in one process: the plugin alone, and with the chain
around it. `python benchmarks/policies.py`
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from krm_fn.admission import Chain, Cluster, Plugin, Request, RequestAttributes
from krm_fn.config.options import Options
from krm_fn.config.sources import RuleSet, Stage
from krm_fn.run.compile import compile_rules
from krm_fn.run.knowledge import knowledge_of
from krm_fn.wire import read_stream

HERE = Path(__file__).resolve().parent

POD = """\
- apiVersion: v1
  kind: Pod
  metadata:
    name: web-{n}
    namespace: bench
    labels:
      app: web
  spec:
    containers:
    - name: web
      image: registry.example/web:1.4
      ports:
      - containerPort: 8080
      env:
      - name: LEVEL
        value: info
"""
MATCHED = "registry.example/"
POLICY = f"""\
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {{name: bench}}
spec:
  matchConstraints:
    resourceRules:
    - {{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}}
  matchConditions:
  - name: ours
    expression: object.spec.containers.all(c, c.image.startsWith("{MATCHED}"))
  - name: web
    expression: object.metadata.labels["app"] == "web"
  mutations:
  - patchType: ApplyConfiguration
    applyConfiguration:
      expression: 'Object{{metadata: Object.metadata{{labels: {{"seen": "yes"}}}}}}'
  reinvocationPolicy: Never
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {{name: bench}}
spec: {{policyName: bench}}
"""
RULE = """\
apiVersion: api.kubemod.io/v1beta1
kind: ModRule
metadata: {name: bench, namespace: bench}
spec:
  type: Patch
  match:
  - select: $.spec.containers[*].image
    matchFor: All
    matchRegex: ^registry\\.example/
  - select: $.metadata.labels.app
    matchValue: web
  patch:
  - op: add
    path: /metadata/labels/seen
    value: '"yes"'
"""


def make_list(rules: str, count: int) -> str:
    """A ResourceList of Pods with the rules in its functionConfig."""
    items = "".join(POD.format(n=n) for n in range(count))
    indented = "".join(f"        {line}\n" for line in rules.splitlines())
    return (
        f"apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n{items}"
        "functionConfig:\n  apiVersion: krm-fn.dev/v1alpha1\n  kind: Admission\n  spec:\n"
        "    idempotency: 'Off'\n    results: {changes: false}\n    rules:\n    - inline: |\n"
        f"{indented}"
    )


def run_once(source: Path) -> float:
    start = time.perf_counter()
    with source.open("rb") as stdin:
        subprocess.run(
            [sys.executable, "-m", "krm_fn"],
            stdin=stdin,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=True,
            cwd=HERE.parent,
        )
    return time.perf_counter() - start


def processes(rounds: int, count: int) -> None:
    """Both engines, as whole processes, in turn."""
    with tempfile.TemporaryDirectory() as folder:
        sources = {}
        for name, rules in (("policy", POLICY), ("ModRule", RULE)):
            sources[name] = Path(folder) / name
            sources[name].write_text(make_list(rules, count))
        times: dict[str, list[float]] = {name: [] for name in sources}
        for _ in range(rounds):
            for name, source in sources.items():
                times[name].append(run_once(source))
    medians = {name: statistics.median(found) for name, found in times.items()}
    for name, median in medians.items():
        print(f"{count:,} Pods, one {name}: {median:.2f} s")
    print(f"policy / ModRule: {medians['policy'] / medians['ModRule']:.2f}")


def compiled(rules: str) -> tuple[Plugin, Chain, Cluster]:
    """The plugin of some rules, and a chain with it alone."""
    sources = RuleSet()
    sources.add_documents(rules.encode(), "rules.yaml")
    known = knowledge_of([], [Stage(Options(), sources)])
    plugins, _ = compile_rules(sources, Options(), known)
    return plugins[0], Chain(plugins, RequestAttributes(), known.served), known.cluster


def best(run: Callable[[], Any], rounds: int) -> float:
    """Microseconds of the fastest of several turns."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        for _ in range(100):
            run()
        times.append(time.perf_counter() - start)
    return min(times) * 10_000


def one_pod(rounds: int) -> None:
    """One Pod in this process."""
    item = next(iter(read_stream(POD.format(n=0)[2:].replace("\n  ", "\n").encode()).items))
    for name, rules in (("policy", POLICY), ("ModRule", RULE)):
        plugin, chain, cluster = compiled(rules)
        subject = cluster.subject_of(item.head)
        verdict = chain.admit(subject, item.value, cluster)
        assert verdict.changes
        request = Request(
            RequestAttributes().operation,
            *subject,
            verdict.shown,
        )
        alone = best(lambda: plugin.admit(replace(request), cluster), rounds)  # noqa: B023
        whole = best(lambda: chain.admit(subject, item.value, cluster), rounds)  # noqa: B023
        print(f"one Pod, one {name}: plugin {alone:.0f} us, chain {whole:.0f} us")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--count", type=int, default=10_000)
    options = parser.parse_args()
    one_pod(options.rounds)
    processes(options.rounds, options.count)


if __name__ == "__main__":
    main()
