"""What no case has tried: which criteria of rules were never true or never false, which actions
never happened.

Counted from the traces of the runs that decide, so that nothing is evaluated for it. What a rule
has is told from its manifest: a criterion that no case ever came to is not covered either.
Source: docs/spec/test.md section 4.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from krm_fn.admission import Rule
from krm_fn.admission.trace import Criterion
from krm_fn.report.explanation import key_of
from krm_fn.testing.compare import Admitted
from krm_fn.testing.suite import Excuse
from krm_fn.values import Path, format_path, get

TRUE: Final = "true"
FALSE: Final = "false"
HAPPENED: Final = "done"

_CRITERION: Final = (TRUE, FALSE)
_ACTION: Final = (HAPPENED,)


class _Part(NamedTuple):
    """A field of rules that has points; those of a list have one an element."""

    path: Path
    branches: tuple[str, ...]
    is_list: bool = True


_POLICY: Final = (
    _Part(("spec", "matchConstraints", "namespaceSelector"), _CRITERION, is_list=False),
    _Part(("spec", "matchConstraints", "objectSelector"), _CRITERION, is_list=False),
    _Part(("spec", "matchConditions"), _CRITERION),
)
_PARTS: Final[Mapping[str, tuple[_Part, ...]]] = {
    "ModRule": (
        _Part(("spec", "match"), _CRITERION),
        _Part(("spec", "patch"), _ACTION),
        _Part(("spec", "rejectMessage"), _ACTION, is_list=False),
    ),
    "ValidatingAdmissionPolicy": (*_POLICY, _Part(("spec", "validations"), _CRITERION)),
    "MutatingAdmissionPolicy": (*_POLICY, _Part(("spec", "mutations"), _ACTION)),
    "SidecarSet": (
        _Part(("spec", "namespaceSelector"), _CRITERION, is_list=False),
        _Part(("spec", "selector"), _CRITERION, is_list=False),
        _Part(("spec", "initContainers"), _ACTION, is_list=False),
        _Part(("spec", "containers"), _ACTION, is_list=False),
        _Part(("spec", "volumes"), _ACTION, is_list=False),
        _Part(("spec", "patchPodMetadata"), _ACTION),
    ),
    "Mesh": (_Part(("spec", "awsAppMesh", "injectionSelector"), _CRITERION, is_list=False),),
    "ClusterAdmissionPolicy": (_Part(("spec", "matchConditions"), _CRITERION),),
    "AdmissionPolicy": (_Part(("spec", "matchConditions"), _CRITERION),),
}

_NOTHING: Final = (
    "did nothing",
    "its select gave no path",
    "nothing to remove",
    "the same as before",
    "was not applied",
    "changed nothing",
    "failed",
    "refused",
    "stays",
)
"""How effects begin that are none, in the words of explanations."""


@dataclass(slots=True)
class Point:
    """A criterion or an action of a rule, and how often each of its branches was taken."""

    path: Path
    line: int
    taken: dict[str, int]

    @property
    def missing(self) -> list[str]:
        return [branch for branch, times in self.taken.items() if not times]

    def sentence(self) -> str:
        """`spec.validations[1] was never false`."""
        name = format_path(self.path)
        missing = self.missing
        if missing == [HAPPENED]:
            return f"{name} never did anything"
        if len(missing) == len(self.taken):
            return f"{name} was never asked"
        return f"{name} was never {missing[0]}"


@dataclass(slots=True)
class RuleCoverage:
    """The points of one rule."""

    name: str
    file: str
    line: int
    points: dict[Path, Point] = field(default_factory=dict)

    @property
    def total(self) -> int:
        return sum(len(point.taken) for point in self.points.values())

    @property
    def covered(self) -> int:
        return self.total - sum(len(point.missing) for point in self.points.values())


class Coverage:
    """The coverage of all rules that suites have run."""

    def __init__(self) -> None:
        self._rules: dict[object, RuleCoverage] = {}

    def add(self, admitted: Admitted) -> None:
        """Count a run that recorded its traces."""
        by_key = {key_of(rule.ref): self._rule(rule) for rule in admitted.rules}
        for entry in admitted.report.objects:
            for trace in entry.traces:
                for record in trace:
                    rule = by_key.get(key_of(record.ref))
                    if rule is not None:
                        _count(rule, record.criteria)

    def excuse(self, excuses: Iterable[Excuse], rules: Iterable[Rule]) -> None:
        """Leave out what a suite gives a reason for; called when all of its cases are counted."""
        for rule in rules:
            for excuse in excuses:
                if excuse.rule in (rule.ref.name, f"{rule.ref.kind}/{rule.ref.name}"):
                    _excuse(self._rule(rule), excuse)

    def rules(self) -> list[RuleCoverage]:
        """The rules that have points, by where they are written."""
        rules = (rule for rule in self._rules.values() if rule.total)
        return sorted(rules, key=lambda rule: (rule.file, rule.line))

    def percent(self) -> float:
        """How much of what there is was covered; 100 where there is nothing."""
        total = sum(rule.total for rule in self.rules())
        covered = sum(rule.covered for rule in self.rules())
        return 100 * covered / total if total else 100.0

    def _rule(self, rule: Rule) -> RuleCoverage:
        origin = rule.ref.origin
        file = "" if origin is None else origin.file or origin.place
        line = 0 if origin is None else origin.line or 0
        key = (*key_of(rule.ref), file, line)
        if key not in self._rules:
            points = {path: _point(rule, path, branches) for path, branches in _points(rule)}
            self._rules[key] = RuleCoverage(str(rule.ref), file, line, points)
        return self._rules[key]


def _points(rule: Rule) -> Iterator[tuple[Path, Sequence[str]]]:
    """The points that a rule has, as its manifest says."""
    for part in _PARTS.get(rule.ref.kind, ()):
        value = get(rule.value, part.path)
        if not value:
            continue
        if part.is_list and type(value) is list:
            for n in range(len(value)):
                yield (*part.path, n), part.branches
        elif not part.is_list:
            yield part.path, part.branches


def _point(rule: Rule, path: Path, branches: Sequence[str]) -> Point:
    line = 0
    origin = rule.ref.origin
    if origin is not None and origin.line is not None and rule.line is not None:
        line = rule.line(path)
    return Point(path, line, dict.fromkeys(branches, 0))


def _count(rule: RuleCoverage, criteria: Iterable[Criterion]) -> None:
    for one in criteria:
        point = _nearest(rule.points, one.field)
        if point is None:
            continue
        if HAPPENED in point.taken:
            if not one.saw.startswith(_NOTHING):
                point.taken[HAPPENED] += 1
        elif one.is_effect:
            if one.saw in point.taken:
                point.taken[one.saw] += 1
        elif one.held is not None:
            point.taken[TRUE if one.held else FALSE] += 1


def _nearest(points: Mapping[Path, Point], path: Path) -> Point | None:
    """The point that a recorded field is of: itself, or what it stands in."""
    for end in range(len(path), 0, -1):
        if path[:end] in points:
            return points[path[:end]]
    return None


def _excuse(rule: RuleCoverage, excuse: Excuse) -> None:
    """Leave out what need not be covered."""
    for path in [path for path in rule.points if format_path(path) == excuse.field]:
        point = rule.points[path]
        point.taken = {branch: times for branch, times in point.taken.items() if times}
        if not point.taken:
            del rule.points[path]
