"""Configuration as an object of a class."""

from __future__ import annotations

import dataclasses
import enum
from typing import Any, Literal

import pytest
from sdk_support import a_list, with_config

from krm_fn.sdk import FieldTypeError, MissingFnConfigError


class Mode(enum.Enum):
    LOUD = "loud"
    QUIET = "quiet"


@dataclasses.dataclass
class Port:
    number: int
    name: str = "http"


@dataclasses.dataclass
class Settings:
    team: str
    replicas: int = 1
    dry_run: bool = False
    ratio: float | None = None
    mode: Mode = Mode.QUIET
    level: Literal["low", "high"] = "low"
    labels: dict[str, str] = dataclasses.field(default_factory=dict)
    ports: list[Port] = dataclasses.field(default_factory=list)
    port: int | str = 80
    anything: Any = None


FULL = Settings(
    "shop", 3, True, 1.0, Mode.LOUD, "high", {"a": "b"}, [Port(80), Port(443, "https")], "web", [1]
)
SPEC = """\
team: shop
replicas: 3
dryRun: true
ratio: 1
mode: loud
level: high
labels: {a: b}
ports:
- number: 80
- {number: 443, name: https}
port: web
anything: [1]
"""


def indented(text: str) -> str:
    return "".join(f"  {line}\n" for line in text.splitlines())


CUSTOM = "apiVersion: fn.example.com/v1\nkind: Settings\nmetadata: {name: s}\n"


@pytest.mark.parametrize("text", [f"{CUSTOM}spec:\n{indented(SPEC)}", CUSTOM + SPEC])
def test_an_object_fills_a_class_from_its_spec_or_from_itself(text: str) -> None:
    assert with_config(text).config(Settings) == FULL


def test_a_config_map_fills_a_class_from_its_texts() -> None:
    text = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: s}
data:
  team: shop
  replicas: "3"
  dry_run: "true"
  ratio: "1"
  mode: loud
  level: high
  labels: "{a: b}"
  ports: |
    - number: 80
    - {number: 443, name: https}
  port: web
  anything: "[1]"
"""
    expected = dataclasses.replace(FULL, anything="[1]")
    assert with_config(text).config(Settings) == expected


def test_a_text_stays_one_for_what_is_to_be_a_string() -> None:
    text = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: s}\ndata: {team: "007"}\n'
    assert with_config(text).config(Settings).team == "007"


def test_what_is_not_given_is_what_the_class_says() -> None:
    assert a_list().config(Settings) == Settings("checkout")


def test_a_plain_class_with_annotations_is_filled_too() -> None:
    class Plain:
        team: str
        replicas: int = 2
        _private: int = 0

    plain = a_list().config(Plain)
    assert (plain.team, plain.replicas) == ("checkout", 2)


PLACEHOLDER = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: function-input}\ndata: {}\n"


@pytest.mark.parametrize("text", ["", PLACEHOLDER])
def test_without_a_config_defaults_hold_or_one_is_asked_for(text: str) -> None:
    @dataclasses.dataclass
    class Optional:
        replicas: int = 1

    assert with_config(text).config(Optional) == Optional()
    with pytest.raises(MissingFnConfigError):
        with_config(text).config(Settings)


WRONG = {
    "missing": ("replicas: 2", "spec.team is missing"),
    "unknown": ("team: a\nreplica: 2", "spec.replica is not known; did you mean replicas?"),
    "another type": ("team: 5", "spec.team is a number; it must be a string"),
    "a boolean for a number": ("team: a\nreplicas: true", "is a boolean; it must be an integer"),
    "a fraction": ("team: a\nreplicas: 1.5", "is a number; it must be an integer"),
    "no choice": ("team: a\nlevel: mid", "spec.level is a string; it must be low or high"),
    "no member": ("team: a\nmode: mute", "spec.mode is a string; it must be loud or quiet"),
    "no list": ("team: a\nports: {}", "spec.ports is a mapping; it must be a list"),
    "below": (
        "team: a\nports:\n- number: x",
        "spec.ports[0].number is a string; it must be an integer",
    ),
    "missing below": ("team: a\nports:\n- name: x", "spec.ports[0].number is missing"),
    "optional": ("team: a\nratio: x", "spec.ratio is a string; it must be a number"),
    "of several": ("team: a\nport: []", "spec.port is a list; it must be an integer or a string"),
    "twice": ("team: a\ndryRun: true\ndry_run: true", "is there twice, as dry_run and dryRun"),
}


@pytest.mark.parametrize(("spec", "reason"), WRONG.values(), ids=WRONG)
def test_a_member_that_is_wrong_is_named(spec: str, reason: str) -> None:
    with pytest.raises(FieldTypeError) as caught:
        with_config(f"{CUSTOM}spec:\n{indented(spec)}").config(Settings)
    assert str(caught.value).startswith("functionConfig: spec.")
    assert reason in str(caught.value)


def test_a_text_that_is_no_yaml_is_named() -> None:
    text = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: s}\ndata: {team: a, ports: "[1"}\n'
    with pytest.raises(FieldTypeError, match=r"data\.ports is no YAML; it must be a list"):
        with_config(text).config(Settings)


def test_a_part_of_an_object_is_decoded_and_the_rest_left_out() -> None:
    @dataclasses.dataclass
    class Spec:
        replicas: int
        paused: bool

    web = a_list().items[0]
    assert web.nested_subobject("spec").decode(Spec) == Spec(2, False)
    with pytest.raises(FieldTypeError, match=r"^d/web\.yaml\[1\]: team is missing$"):
        web.decode(Settings)
