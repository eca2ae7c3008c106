"""Coverage as a table for people, and as lcov and Cobertura's XML for services that show it.

Source: geninfo(1) of LTP's lcov; Cobertura's coverage-04.dtd.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Final
from xml.etree import ElementTree

from krm_fn.printable import one_line
from krm_fn.testing.coverage import Coverage, Point, RuleCoverage


def coverage_lines(coverage: Coverage) -> Iterator[str]:
    """A line a rule, and below it what no case has tried, with file and line."""
    rules = coverage.rules()
    if not rules:
        return
    width = max(len(one_line(rule.name)) for rule in rules)
    for rule in rules:
        part = f"{rule.covered}/{rule.total}"
        place = f"{rule.file}:{rule.line}" if rule.line else rule.file
        percent = 100 * rule.covered // rule.total
        yield f"{percent:>4} % {part:>7}  {one_line(rule.name):<{width}}  {one_line(place)}"
        for point in rule.points.values():
            if point.missing:
                yield f"                {one_line(f'{rule.file}:{point.line} {point.sentence()}')}"


def percent_text(coverage: Coverage) -> str:
    """`92.5 % of rules' criteria covered`."""
    return f"{rounded(coverage):g} % of rules' criteria covered"


def rounded(coverage: Coverage) -> float:
    """The coverage, cut after one digit, so that 100 is said of nothing less."""
    return int(coverage.percent() * 10) / 10


def _by_file(coverage: Coverage) -> dict[str, list[Point]]:
    """The points of each file, by line. Rules that stand in no file of their own are left out."""
    files: dict[str, list[Point]] = {}
    for rule in coverage.rules():
        if os.path.isfile(rule.file):
            files.setdefault(rule.file, []).extend(_placed(rule))
    return {file: sorted(files[file], key=lambda point: point.line) for file in sorted(files)}


def _placed(rule: RuleCoverage) -> Iterator[Point]:
    for point in rule.points.values():
        if point.line:
            yield point


def lcov(coverage: Coverage) -> str:
    """The lcov format: a line a criterion or action, a branch each way that it can go."""
    lines: list[str] = []
    for file, points in _by_file(coverage).items():
        branches = [(p, n, times) for p in points for n, times in enumerate(p.taken.values())]
        hits = {line: sum(_hits(p) for p in points if p.line == line) for line in _lines(points)}
        lines += ["TN:", f"SF:{one_line(file)}"]
        blocks: dict[int, int] = {}
        for point, n, times in branches:
            block = blocks.setdefault(id(point), len(blocks))
            lines.append(f"BRDA:{point.line},{block},{n},{times or (0 if _hits(point) else '-')}")
        lines.append(f"BRF:{len(branches)}")
        lines.append(f"BRH:{sum(times > 0 for _, _, times in branches)}")
        lines += [f"DA:{line},{count}" for line, count in hits.items()]
        lines += [f"LF:{len(hits)}", f"LH:{sum(count > 0 for count in hits.values())}"]
        lines.append("end_of_record")
    return "".join(f"{line}\n" for line in lines)


def _lines(points: list[Point]) -> list[int]:
    return sorted({point.line for point in points})


def _hits(point: Point) -> int:
    return sum(point.taken.values())


_HEAD: Final = (
    '<?xml version="1.0" encoding="UTF-8"?>\n'
    "<!DOCTYPE coverage SYSTEM 'http://cobertura.sourceforge.net/xml/coverage-04.dtd'>\n"
)


def cobertura(coverage: Coverage) -> str:
    """Cobertura's XML: a class a file of rules."""
    files = _by_file(coverage)
    every = [point for points in files.values() for point in points]
    root = ElementTree.Element("coverage", {**_counts(every), "version": "1", "timestamp": "0"})
    root.set("complexity", "0")
    sources = ElementTree.SubElement(root, "sources")
    ElementTree.SubElement(sources, "source").text = "."
    packages = ElementTree.SubElement(root, "packages")
    rates = {key: value for key, value in _counts(every).items() if key.endswith("rate")}
    package = ElementTree.SubElement(packages, "package", {"name": "rules", **rates})
    package.set("complexity", "0")
    classes = ElementTree.SubElement(package, "classes")
    for file, points in files.items():
        _class(classes, file, points)
    ElementTree.indent(root)
    return f"{_HEAD}{ElementTree.tostring(root, encoding='unicode')}\n"


def _class(parent: ElementTree.Element, file: str, points: list[Point]) -> None:
    rates = {key: value for key, value in _counts(points).items() if key.endswith("rate")}
    name = one_line(file)
    element = ElementTree.SubElement(parent, "class", {"name": name, "filename": name, **rates})
    element.set("complexity", "0")
    ElementTree.SubElement(element, "methods")
    lines = ElementTree.SubElement(element, "lines")
    for number in _lines(points):
        here = [point for point in points if point.line == number]
        taken = [times for point in here for times in point.taken.values()]
        covered = sum(times > 0 for times in taken)
        ElementTree.SubElement(
            lines,
            "line",
            {
                "number": str(number),
                "hits": str(sum(map(_hits, here))),
                "branch": "true",
                "condition-coverage": f"{100 * covered // len(taken)}% ({covered}/{len(taken)})",
            },
        )


def _counts(points: list[Point]) -> dict[str, str]:
    """Rates and numbers of lines and branches, as Cobertura's attributes."""
    hits = {line: sum(_hits(p) for p in points if p.line == line) for line in _lines(points)}
    taken = [times for point in points for times in point.taken.values()]
    lines, branches = sum(n > 0 for n in hits.values()), sum(n > 0 for n in taken)
    return {
        "line-rate": f"{lines / len(hits) if hits else 1:.4g}",
        "branch-rate": f"{branches / len(taken) if taken else 1:.4g}",
        "lines-covered": str(lines),
        "lines-valid": str(len(hits)),
        "branches-covered": str(branches),
        "branches-valid": str(len(taken)),
    }


COVERAGE_REPORTS: Final = {"lcov": lcov, "cobertura": cobertura}
