"""Time krm-fn on lists of 10 to 10,000 items, in turn with a program that loads and dumps them.

The peer does what a quick script would: PyYAML's CSafeLoader, the same three changes, CSafeDumper.
Both run as whole processes, one after the other in each round, so that the ratio holds when the
machine's speed drifts. Prints medians and ratios: `python benchmarks/lists.py [--rounds N]`.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
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
  kind: Deployment
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


def make_list(count: int, share: int) -> str:
    """A ResourceList of `count` items of about 2 KB, of which `share` percent are touched.

    With 100 percent all are Deployments, else every third is a custom resource.
    """
    parts = ["apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n"]
    for n in range(count):
        if share < 100 and n % 3 == 2:
            shelves = "".join(SHELF.format(i=i) for i in range(22))
            parts.append(CUSTOM.format(n=n, shelves=shelves))
        else:
            touched = n * share // 100 != (n + 1) * share // 100
            parts.append(DEPLOYMENT.format(n=n, touch="yes" if touched else "no"))
    parts.append(
        "functionConfig:\n  apiVersion: krm-fn.dev/v1alpha1\n  kind: Admission\n"
        "  metadata: {name: bench}\n  spec:\n    idempotency: 'Off'\n"
        "    results: {changes: false}\n    rules:\n    - inline: |\n"
    )
    parts += [f"    {line}\n" for line in RULES.splitlines()]
    return "".join(parts)


def run_once(command: list[str], source: Path) -> float:
    start = time.perf_counter()
    with source.open("rb") as stdin:
        subprocess.run(
            command,
            stdin=stdin,
            stdout=subprocess.DEVNULL,
            check=True,
            stderr=subprocess.DEVNULL,
            cwd=HERE.parent,
        )
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--sizes", type=int, nargs="*", default=list(SIZES))
    options = parser.parse_args()
    print(f"{'items':>6} {'KiB':>7} {'touched':>8} {'krm-fn s':>9} {'PyYAML s':>9} {'ratio':>6}")
    with tempfile.TemporaryDirectory() as folder:
        peer = Path(folder) / "peer.py"
        peer.write_text(PEER)
        ours = [sys.executable, "-m", "krm_fn"]
        theirs = [sys.executable, str(peer)]
        for size in options.sizes:
            for share in SHARES:
                source = Path(folder) / f"{size}-{share}.yaml"
                source.write_text(make_list(size, share))
                run_once(ours, source)
                pairs = [
                    (run_once(ours, source), run_once(theirs, source))
                    for _ in range(options.rounds)
                ]
                mine = statistics.median(a for a, _ in pairs)
                other = statistics.median(b for _, b in pairs)
                ratio = statistics.median(a / b for a, b in pairs)
                kib = source.stat().st_size // 1024
                print(f"{size:>6} {kib:>7} {share:>7}% {mine:>9.3f} {other:>9.3f} {ratio:>6.2f}")


if __name__ == "__main__":
    main()
