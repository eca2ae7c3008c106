"""Real packages, where there are any: a change shows in the changed lines only.

`KRM_FN_FIXTURES` names a folder; without it, `../shared/fixtures` beside the checkout is taken.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from krm_fn.values import Path as ValuePath
from krm_fn.values import equal, get, with_at
from krm_fn.wire import Item, Stream, read_stream

_BESIDE = Path(__file__).resolve().parents[4] / "shared" / "fixtures"
FOLDER = Path(os.environ.get("KRM_FN_FIXTURES") or _BESIDE)
FILES = sorted(f for f in FOLDER.rglob("*") if f.suffix in (".yaml", ".yml") or f.name == "Kptfile")

pytestmark = pytest.mark.skipif(
    not FILES, reason="no YAML files: set KRM_FN_FIXTURES to a folder of real packages"
)
by_file = pytest.mark.parametrize("file", FILES, ids=lambda f: str(f.relative_to(FOLDER)))


@by_file
def test_a_file_leaves_as_it_came(file: Path) -> None:
    data = file.read_bytes()
    stream = read_stream(data, file.name)
    for item in stream.items:
        assert item.value["kind"] == item.head.kind
    assert stream.write() == data


@by_file
def test_a_change_shows_in_the_changed_lines_only(file: Path) -> None:
    data = file.read_bytes()
    stream = read_stream(data, file.name)
    # Of a large file some objects do, since each change writes and reads it all.
    some = stream.items[:: max(1, len(stream.items) // 6)]
    for item in some:
        check_label(data, stream, item)
        check_scalars(data, stream, item)
        check_lists(data, stream, item)


def check_label(data: bytes, stream: Stream, item: Item) -> None:
    labels = get(item.value, ("metadata", "labels"))
    removed, added = changed_lines(data, stream, item, ("metadata", "labels", "fresh"), "label")
    assert removed == []
    expected = ["fresh: label"] if labels else ["labels:", "fresh: label"]
    assert [line.strip() for line in added] == expected


def check_scalars(data: bytes, stream: Stream, item: Item) -> None:
    text = data.decode()
    paths = [p for p, v in walk(item.value) if type(v) in (str, int, bool) and "\n" not in str(v)]
    for path in spread(paths, 4):
        if path in (("kind",), ("apiVersion",)):
            continue
        old = get(item.value, path)
        if f"{old}\n" not in text:
            continue  # it may stand on several lines
        removed, added = changed_lines(data, stream, item, path, f"{old}-fresh")
        assert len(removed) <= 2
        assert len(added) == 1
        assert added[0].replace("-fresh", "").replace('"', "").strip() in " ".join(
            line.strip() for line in removed
        ).replace('"', "")


def check_lists(data: bytes, stream: Stream, item: Item) -> None:
    paths = [p for p, v in walk(item.value) if type(v) is list and v]
    for path in spread(paths, 3):
        new = [*get(item.value, path), {"name": "fresh", "value": ["x"]}]
        removed, added = changed_lines(data, stream, item, path, new)
        if removed:
            assert "[" in removed[0]
            assert len(removed) == len(added) == 1
        else:
            assert [line.strip(" -") for line in added] == ["name: fresh", "value:", "x"]


def changed_lines(
    data: bytes, stream: Stream, item: Item, path: ValuePath, new: Any
) -> tuple[list[str], list[str]]:
    """The lines that go and come when the value at a path is another one; it must read back."""
    expected = with_at(item.original, path, new)
    item.replace(expected)
    written = stream.write()
    item.replace(item.original)
    again = read_stream(written)
    assert equal(again.items[stream.items.index(item)].value, expected)
    before, after = data.decode().split("\n"), written.decode().split("\n")
    start = next((n for n, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), 0)
    window = slice(max(start - 50, 0), start + 200)
    # The lines further down are the same, shifted; comparing them all would take too long.
    shift = len(after) - len(before)
    assert before[window.stop :] == after[window.stop + shift :]
    diff = list(difflib.ndiff(before[window], after[window.start : window.stop + shift]))
    return (
        [line[2:] for line in diff if line.startswith("- ")],
        [line[2:] for line in diff if line.startswith("+ ")],
    )


def walk(value: Any, path: ValuePath = ()) -> Iterator[tuple[ValuePath, Any]]:
    yield path, value
    if type(value) is dict:
        for key, member in value.items():
            yield from walk(member, (*path, key))
    elif type(value) is list:
        for n, element in enumerate(value):
            yield from walk(element, (*path, n))


def spread(paths: list[ValuePath], count: int) -> list[ValuePath]:
    """Some of the paths, from all over the object."""
    return paths[:: max(1, len(paths) // count)][:count]
