"""Time many rules on many objects, and one rule against the least that any rule engine does.

Part 1: 2,000 Deployments through 3, 30 and 300 ModRules of which three can match any one object
(the others are pinned to other names): whole processes in turn, medians, the ratio to three rules.
Part 2: one matching rule (match, template, patch) on one 2 KB object, and the chain around it,
against `json.loads(json.dumps(obj))` of it, in the same process. `python benchmarks/rules.py`
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lists import DEPLOYMENT

HERE = Path(__file__).resolve().parent
COUNT = 2_000
RULES = (3, 30, 300)

RULE = """\
apiVersion: api.kubemod.io/v1beta1
kind: ModRule
metadata: {{name: rule-{n}, namespace: bench}}
spec:
  type: Patch
  match:
  - select: $.kind
    matchValue: Deployment
  - select: $.metadata.name
    {criterion}
  patch:
  - op: add
    path: /metadata/annotations/example.com~1rule-{n}
    value: '{{{{ .Target.metadata.name | upper }}}}'
"""


def make_rules(count: int) -> str:
    """`count` rules: three for every Deployment, the others for one that is not there."""
    return "---\n".join(
        RULE.format(n=n, criterion="matchRegex: ^web-" if n < 3 else f"matchValue: other-{n}")
        for n in range(count)
    )


def make_list(rules: str) -> str:
    """A ResourceList of Deployments with the rules in its functionConfig."""
    items = "".join(DEPLOYMENT.format(n=n, kind="Deployment", touch="no") for n in range(COUNT))
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


def many_rules(rounds: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        sources = []
        for count in RULES:
            source = Path(folder) / f"{count}.yaml"
            source.write_text(make_list(make_rules(count)))
            sources.append(source)
        run_once(sources[0])
        times = [[run_once(source) for source in sources] for _ in range(rounds)]
    print(f"{COUNT} Deployments; {rounds} rounds")
    for n, count in enumerate(RULES):
        median = statistics.median(row[n] for row in times)
        ratio = statistics.median(row[n] / row[0] for row in times)
        print(f"{count:>5} rules  {median:7.3f} s  {ratio:5.2f} x the time of {RULES[0]}")


def one_rule(rounds: int) -> None:
    from krm_fn.admission import (
        Chain,
        Cluster,
        Operation,
        Request,
        RequestAttributes,
        Rule,
        RuleRef,
    )
    from krm_fn.dialects.modrule import DIALECT
    from krm_fn.wire import read_stream
    from tests.compiling import compile_with

    head = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n"
    item = read_stream(
        (head + DEPLOYMENT.format(n=1, kind="Deployment", touch="no")).encode()
    ).items[0]
    value: Any = item.value
    rule = read_stream(RULE.format(n=1, criterion="matchValue: web-1").encode()).items[0]
    ref = RuleRef("modrule", "ModRule", "bench", "rule-1")
    compiled = compile_with(DIALECT, [Rule(ref, rule.value)])
    plugin = compiled.plugins[0]
    chain = Chain([plugin], RequestAttributes())
    cluster = Cluster()
    subject = cluster.subject_of(item.head)
    request = Request(Operation.CREATE, *subject, value)

    def apply() -> None:
        assert plugin.admit(request, cluster).object

    def admit() -> None:
        assert chain.admit(subject, value, cluster).changes

    def copy() -> None:
        json.loads(json.dumps(value))

    rule_time, chain_time, copy_time = _fastest([apply, admit, copy], rounds * 40)
    size = len(json.dumps(value))
    print(f"one object of {size} bytes of JSON, json.loads(json.dumps(obj)): {copy_time:.0f} us")
    for name, took in (("one rule on it", rule_time), ("the whole chain", chain_time)):
        print(f"{name:>16}  {took:5.0f} us  {took / copy_time:5.2f} x that")


def _fastest(works: list[Callable[[], None]], rounds: int, count: int = 20) -> list[float]:
    """The least microseconds that each takes, by turns, since what else runs only adds to them."""
    best = [float("inf")] * len(works)
    for _ in range(rounds):
        for n, work in enumerate(works):
            start = time.perf_counter()
            for _ in range(count):
                work()
            best[n] = min(best[n], (time.perf_counter() - start) / count * 1e6)
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    many_rules(options.rounds)
    one_rule(options.rounds)


if __name__ == "__main__":
    main()
