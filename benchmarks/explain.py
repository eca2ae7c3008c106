"""What explaining costs: the 47 example policies on 60 objects, checked and explained, in turn.

    python benchmarks/explain.py [--rounds N]

CPU time of whole processes, medians; the targets are those of docs/spec/explain.md section 6 (three
times a check) and of the overview (twice).
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {{name: web-{n}, namespace: shop, labels: {{app: web}}}}
spec:
  replicas: {n}
  selector: {{matchLabels: {{app: web}}}}
  template:
    metadata: {{labels: {{app: web}}}}
    spec:
      containers:
      - {{name: web, image: "registry.example.com/web:1.{n}"}}
"""


def cpu(*arguments: str) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, "-m", "krm_fn", *arguments],
        cwd=ROOT,
        env={**os.environ, "COLUMNS": "100"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=False,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder:
        manifests = Path(folder) / "manifests.yaml"
        manifests.write_text("---\n".join(DEPLOYMENT.format(n=n) for n in range(60)))
        rules = Path(folder) / "rules"
        rules.mkdir()
        for policy in sorted((ROOT / "examples/policies").glob("*/policy.yaml")):
            (rules / f"{policy.parent.name}.yaml").write_bytes(policy.read_bytes())
        common = ("-f", str(manifests), "-r", str(rules))
        runs = {
            "check": ("check", *common),
            "overview": ("explain", *common),
            "every criterion": ("explain", "-v", "-o", "json", *common),
        }
        times: dict[str, list[float]] = {name: [] for name in runs}
        for _ in range(rounds):
            for name, arguments in runs.items():
                times[name].append(cpu(*arguments))
    base = statistics.median(times["check"])
    for name, found in times.items():
        median = statistics.median(found)
        print(f"{name:16}{median:6.2f} s {median / base:5.2f}")


if __name__ == "__main__":
    main()
