"""Time SidecarSets on Deployments against a ModRule that injects one sidecar.

1,000 Deployments with `podTemplates: Mutate` through three SidecarSets (one patches metadata, one
shares volumes), and the same Deployments through one ModRule that puts a container into their
templates: the whole function in one process, by turns. What it takes with a rule for none of the
objects is shown beside both. `python benchmarks/sidecarset.py [--rounds N]`
"""

from __future__ import annotations

import argparse
import statistics
import time

from lists import DEPLOYMENT

from krm_fn.run.function import run

COUNT = 1_000

SETS = """\
apiVersion: apps.kruise.io/v1beta1
kind: SidecarSet
metadata: {name: logging}
spec:
  selector:
    matchExpressions: [{key: app, operator: Exists}]
  containers:
  - name: logtail
    image: registry.example.com/logtail:2.3
    shareVolumePolicy: {type: enabled}
    volumeMounts: [{name: logbuf, mountPath: /buffer}]
  volumes: [{name: logbuf, emptyDir: {}}]
---
apiVersion: apps.kruise.io/v1beta1
kind: SidecarSet
metadata: {name: mesh}
spec:
  selector:
    matchExpressions: [{key: app, operator: Exists}]
  containers:
  - {name: proxy, image: 'registry.example.com/proxy:1.20', podInjectPolicy: AfterAppContainer}
---
apiVersion: apps.kruise.io/v1beta1
kind: SidecarSet
metadata: {name: metrics}
spec:
  selector:
    matchExpressions: [{key: app, operator: Exists}]
  containers:
  - {name: exporter, image: 'registry.example.com/exporter:1.0'}
  patchPodMetadata:
  - annotations: {example.com/oom-score: '{"exporter": 500}'}
    patchPolicy: MergePatchJson
"""
RULE = """\
apiVersion: api.kubemod.io/v1beta1
kind: ModRule
metadata: {name: sidecar, namespace: bench}
spec:
  type: Patch
  match:
  - select: $.kind
    matchValue: KIND
  patch:
  - op: add
    path: /spec/template/spec/containers/-1
    value: |-
      name: sidecar
      image: registry.example.com/sidecar:1.0
"""


def source(rules: str, templates: str) -> bytes:
    items = "".join(DEPLOYMENT.format(n=n, kind="Deployment", touch="no") for n in range(COUNT))
    indented = "".join(f"        {line}\n" for line in rules.splitlines())
    return (
        f"apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n{items}"
        "functionConfig:\n  apiVersion: krm-fn.dev/v1alpha1\n  kind: Admission\n  spec:\n"
        f"    idempotency: 'Off'\n    results: {{changes: false}}\n    podTemplates: {templates}\n"
        f"    sidecarSets: {{metadataGate: true}}\n    rules:\n    - inline: |\n{indented}"
    ).encode()


def timed(text: bytes) -> float:
    start = time.perf_counter()
    done = run(text, {})
    assert done.status == 0, done.stderr
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    works = {
        "no rule": source(RULE.replace("KIND", "Service"), "Ignore"),
        "a ModRule": source(RULE.replace("KIND", "Deployment"), "Ignore"),
        "three SidecarSets": source(SETS, "Mutate"),
    }
    for text in works.values():
        timed(text)
    assert run(works["three SidecarSets"], {}).stdout.count(b"- name: exporter") == COUNT
    rows = [[timed(text) for text in works.values()] for _ in range(options.rounds)]
    print(f"{COUNT} Deployments; {options.rounds} rounds; milliseconds an object")
    least = [min(row[n] for row in rows) for n in range(len(works))]
    for name, seconds in zip(works, least, strict=True):
        print(f"{name:>18}  {seconds / COUNT * 1e3:6.3f}")
    ratio = statistics.median(row[2] / row[1] for row in rows)
    print(f"three SidecarSets take {ratio:.2f} x the time of the ModRule")


if __name__ == "__main__":
    main()
