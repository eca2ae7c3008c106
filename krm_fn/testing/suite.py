"""What a suite is: cases, what they admit, and what is expected. Values, without behaviour."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any, NamedTuple

from krm_fn.config.options import Options
from krm_fn.testing.matchers import Matcher
from krm_fn.values import Json, Path
from krm_fn.wire import Item


class ExpectedOutcome(StrEnum):
    """What becomes of an object, in the words of suites."""

    CHANGED = "Changed"
    UNCHANGED = "Unchanged"
    DENIED = "Denied"
    WARNED = "Warned"


class Text(NamedTuple):
    """Manifests: the name that messages have for them, and their bytes."""

    name: str
    data: bytes


class Source(NamedTuple):
    """What a case admits: a text, or one object of it."""

    text: Text
    kind: str = ""
    name: str = ""
    """KIND/NAME of the only object that is meant; "" for all of the text."""


class ExpectedMessage(NamedTuple):
    """A message that must be among those of the case, and that is then no surprise."""

    text: Matcher
    rule: str = ""
    """NAME or KIND/NAME; "" is any."""
    severity: str = ""
    """`error`, `warning` or `info`; "" is an error or a warning."""


class ExpectedObject(NamedTuple):
    """What is expected of one object."""

    outcome: ExpectedOutcome | None = None
    fields: Mapping[str, Matcher] = {}
    patch: tuple[Json, ...] | None = None


class ExpectedVerdict(NamedTuple):
    """What Kyverno's test expects one policy to say of a resource."""

    policy_kind: str
    policy: str
    kind: str
    resource: str
    """NAME or NAMESPACE/NAME; "" is every one of the kind."""
    result: str
    patched: Text | None = None


class Expectation(NamedTuple):
    """What is expected of a case. Only what is given is compared."""

    one: ExpectedObject = ExpectedObject()
    """Of the only object, or of the case as a whole."""
    each: Mapping[str, ExpectedObject] = {}
    """By KIND/NAME, where there are several objects."""
    objects: Text | None = None
    """Whole objects, each compared with the one of its kind and name."""
    messages: tuple[ExpectedMessage, ...] | None = None
    rules: frozenset[str] | None = None
    idempotent: bool = True
    invalid: Matcher | None = None
    verdict: ExpectedVerdict | None = None
    """Of a test of Kyverno's; then nothing else is expected."""


class Case(NamedTuple):
    """One case: what is admitted by which rules, and what is expected."""

    name: str
    path: Path
    """Where it stands in the suite's document."""
    sources: tuple[Source, ...]
    rule_paths: tuple[str, ...]
    options: Options
    expect: Expectation
    skip: str | None = None


class Excuse(NamedTuple):
    """Why a criterion or an action of a rule need not be covered."""

    rule: str
    field: str
    why: str


class Suite(NamedTuple):
    """A file of cases over the same rules."""

    file: str
    name: str
    cases: tuple[Case, ...]
    item: Item
    files: tuple[str, ...] = ()
    """The files that it reads, itself first."""
    uncovered: tuple[Excuse, ...] = ()

    def place(self, path: Path) -> str:
        """Where something stands in the suite: `rules/krm-fn-test.yaml:12`."""
        return f"{self.file}:{self.item.line(path)}"


Reader = Callable[[str], bytes]
Value = Any
