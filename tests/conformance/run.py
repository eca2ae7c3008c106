"""Run vector files against this project: `python tests/conformance/run.py [--format NAME] FILE...`

A vector file holds one JSON object a line: inputs, and the answer observed on the real system. Its
format is the one that --format names, else the `format` of a case up to the first `-`, else the
file's stem up to the first `-` or `.`; each format is one module in `formats/` with a function
`check(case)` that returns a `Verdict`.

Prints each failing id with what was expected and what came out, closes with `N passed, N failed, N
skipped`, and exits 0, 1 (some failed) or 2 (unknown format, unreadable file).
"""

from __future__ import annotations

import argparse
import functools
import importlib
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from formats import Verdict

FORMATS = Path(__file__).resolve().parent / "formats"


@functools.lru_cache(maxsize=1)
def lines(path: Path) -> list[bytes]:
    """The lines of a file that hold a case each. Split at LF only: texts hold U+2028."""
    return [line for line in path.read_bytes().split(b"\n") if line.strip()]


def load(path: Path) -> Iterator[dict[str, Any]]:
    """The cases of a file."""
    return map(json.loads, lines(path))


def format_of(path: Path, case: dict[str, Any] | None = None) -> str:
    """The format of a file, or of a case in it that names its own."""
    named = (case or {}).get("format")
    return re.split(r"[-.]", named if isinstance(named, str) else path.name, maxsplit=1)[0]


def check(name: str, case: dict[str, Any]) -> Verdict:
    """Run one case; an exception that no format expects is a failure with its text."""
    module = importlib.import_module(f"formats.{name}")
    try:
        verdict = module.check(case)
    except Exception as error:
        return Verdict.failed(case.get("result"), f"{type(error).__name__}: {error}")
    assert isinstance(verdict, Verdict)
    return verdict


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--format")
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    options = parser.parse_args(argv)
    passed = failed = skipped = 0
    for path in options.files:
        try:
            cases = list(load(path))
        except (OSError, ValueError) as error:
            print(f"{path}: {error}", file=sys.stderr)
            return 2
        for case in cases:
            name = options.format or format_of(path, case)
            if not (FORMATS / f"{name}.py").is_file():
                print(f"unknown format {name!r} ({path})", file=sys.stderr)
                return 2
            verdict = check(name, case)
            if verdict.skip:
                skipped += 1
            elif verdict.ok:
                passed += 1
            else:
                failed += 1
                print(case.get("id"))
                print(f"  expected: {verdict.expected}\n  actual:   {verdict.actual}")
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
