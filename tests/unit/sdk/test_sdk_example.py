"""The example function, without kpt around it."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

from krm_fn import sdk

FILE = Path(__file__).resolve().parents[3] / "examples" / "sdk" / "apply_setters.py"
LIST = """\
apiVersion: config.kubernetes.io/v1
kind: ResourceList
items:
- apiVersion: v1
  kind: Thing
  metadata: {name: a}
  spec:
    image: web:1 # kpt-set: ${image}:${tag}
    count: 1 # kpt-set: ${count}
    on: false # kpt-set: ${on}
    hosts: [a] # kpt-set: ${hosts}
    odd: nothing-of-it # kpt-set: ${odd}:${tag2}
    other: x # about x
functionConfig:
  apiVersion: v1
  kind: ConfigMap
  metadata: {name: setters}
  data: DATA
"""


def apply(data: str) -> sdk.ResourceList:
    spec = importlib.util.spec_from_file_location("apply_setters", FILE)
    assert spec is not None
    assert spec.loader is not None
    module: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    rl = sdk.parse_resource_list(LIST.replace("DATA", data).encode())
    assert module.apply_setters(rl) is not rl.results.failed
    return rl


SET = {
    '{tag: "2"}': ("image: web:1 #", "image: web:2 #"),
    "{image: api}": ("image: web:1 #", "image: api:1 #"),
    '{count: "3"}': ("count: 1", "count: 3"),
    '{on: "true"}': ("on: false", "on: true"),
    '{hosts: "[b, c]"}': ("hosts: [a]", "hosts: [b, c]"),
    '{odd: a, tag2: "1"}': ("odd: nothing-of-it", "odd: a:1"),
    '{tag: "1"}': ("", ""),
}


@pytest.mark.parametrize(("data", "change"), SET.items(), ids=SET)
def test_the_example_sets_what_the_comments_name(data: str, change: tuple[str, str]) -> None:
    rl = apply(data)
    assert not rl.results.failed
    expected = LIST.replace("DATA", data).replace(*change)
    assert rl.to_yaml().decode().partition("results:")[0] == expected


WRONG = {
    "{odd: a}": "the value nothing-of-it does not fit",
    "{hosts: b}": "one setter with a list is needed",
}


@pytest.mark.parametrize(("data", "reason"), WRONG.items(), ids=WRONG)
def test_the_example_says_what_does_not_fit(data: str, reason: str) -> None:
    rl = apply(data)
    assert rl.results.exit_code == 1
    assert any(reason in result.message for result in rl.results)


def test_the_example_warns_of_setters_that_nothing_names() -> None:
    (result,) = apply("{typo: x}").results
    assert (result.severity, result.message) == ("warning", "no comment names the setter typo")
