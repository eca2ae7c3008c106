"""Time CEL expressions on a Deployment of 2 KB, in turn with cel-expr-python (Google's cel-cpp).

Evaluation includes what each engine does to take the object over from Python's dicts: nothing here,
a conversion there. Both run in one process, one after the other in each round, so that the ratio
holds when the machine's speed drifts; medians of the rounds. Compilation is reported beside it.
`python benchmarks/cel.py [--rounds N]`; the peer is in the extra `bench`, without it only this
project is timed.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from typing import Any

from krm_fn.kube.cel import environment
from krm_fn.lang.cel import Environment

EXPRESSIONS = (
    "object.spec.replicas <= 5",
    "object.spec.template.spec.containers.all(c, c.image.startsWith('reg/'))",
    "has(object.metadata.labels) && object.metadata.labels['a'] == 'b'",
    "object.spec.template.spec.containers.map(c, c.name).exists(n, n.matches('^web-[0-9]+$'))",
    "int(object.metadata.annotations['n']) * 2 > 10",
)
CALLS = 200

Evaluate = Callable[[dict[str, Any]], Any]


def deployment() -> dict[str, Any]:
    """A Deployment of about 2 KB with three containers."""
    containers = [
        {
            "name": f"web-{n}",
            "image": f"reg/team/web:{n}.4.2",
            "args": ["--port=8080", "--log-level=info", f"--shard={n}"],
            "env": [{"name": f"KEY_{k}", "value": f"value-{k}"} for k in range(4)],
            "ports": [{"name": "http", "containerPort": 8080, "protocol": "TCP"}],
            "resources": {
                "requests": {"cpu": "100m", "memory": "128Mi"},
                "limits": {"cpu": "500m", "memory": "256Mi"},
            },
            "readinessProbe": {"httpGet": {"path": "/ready", "port": "http"}, "periodSeconds": 5},
        }
        for n in range(3)
    ]
    labels = {"a": "b", "app.kubernetes.io/name": "web", "app.kubernetes.io/part-of": "shop"}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {
            "name": "web",
            "namespace": "shop",
            "labels": labels,
            "annotations": {"n": "7", "example.com/owner": "team-web@example.com"},
        },
        "spec": {
            "replicas": 3,
            "selector": {"matchLabels": {"a": "b"}},
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}},
            "template": {
                "metadata": {"labels": labels},
                "spec": {"serviceAccountName": "web", "containers": containers},
            },
        },
    }


def ours(env: Environment, text: str) -> Evaluate:
    """This project's evaluation of an expression."""
    program = env.compile(text)
    return lambda value: program.evaluate({"object": value})


def peer() -> Callable[[str], Evaluate] | None:
    """From an expression to cel-cpp's evaluation of it; None where it is not installed."""
    try:
        from cel_expr_python import cel
    except ImportError:
        return None
    env = cel.NewEnv(variables={"object": cel.Type.DYN})

    def compile_one(text: str) -> Evaluate:
        expression = env.compile(text)
        return lambda value: expression.eval(data={"object": value}).value()

    return compile_one


def seconds(action: Callable[[], object], calls: int) -> float:
    """The time of one call, over so many."""
    start = time.perf_counter()
    for _ in range(calls):
        action()
    return (time.perf_counter() - start) / calls


def main() -> None:
    parser = argparse.ArgumentParser(description="Time CEL beside cel-expr-python.")
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    value = deployment()
    env = environment()
    other = peer()
    print(f"object of {len(json.dumps(value)):,} bytes; microseconds, medians of {rounds} rounds")
    if other is None:
        print("cel-expr-python is not installed (extra `bench`): only this project is timed")
    for text in EXPRESSIONS:
        report(text, env, other, value, rounds)


def report(
    text: str,
    env: Environment,
    other: Callable[[str], Evaluate] | None,
    value: dict[str, Any],
    rounds: int,
) -> None:
    mine = ours(env, text)
    theirs = None if other is None else other(text)
    assert theirs is None or theirs(value) == mine(value) is True
    times: dict[str, list[float]] = {"mine": [], "theirs": [], "compile": [], "compile peer": []}
    for _ in range(rounds):
        times["mine"].append(seconds(lambda: mine(value), CALLS))
        times["compile"].append(seconds(lambda: ours(env, text), 5))
        if other is not None and theirs is not None:
            times["theirs"].append(seconds(lambda: theirs(value), CALLS))
            times["compile peer"].append(seconds(lambda: other(text), 5))
    medians = {name: statistics.median(t) * 1e6 for name, t in times.items() if t}
    line = f"{medians['mine']:8.2f}"
    if theirs is not None:
        line += f" / {medians['theirs']:8.2f} = {medians['mine'] / medians['theirs']:.2f}x"
        line += f"   compile {medians['compile']:6.0f} / {medians['compile peer']:6.0f}"
    print(f"{line}   {text}")


if __name__ == "__main__":
    main()
