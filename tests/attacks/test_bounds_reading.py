"""Bounds of reading (docs/trust.md): no text takes more than a bounded time, none is read forever.

Nothing is super-linear in one value, line, list or document: each shape below is read, changed and
written at n, 2n and 4n, and the calls of functions, Python's and C's, are counted. What a call does
inside C is counted where a shape once made it large.
"""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from krm_fn import limits
from krm_fn.cli import renderers
from krm_fn.cli import run as run_cli
from krm_fn.errors import InputError
from krm_fn.system.reading import read_all, read_file
from krm_fn.wire import read_stream, yamlstream
from krm_fn.wire.fast import scan as quickscan
from krm_fn.wire.reading import SWITCH

HEAD = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n"
ITEM = "- apiVersion: v1\n  kind: ConfigMap\n  metadata:\n    name: a\n"
OBJECT = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
UNREADABLE = 4

Shape = Callable[[int], str]

# --------------------------------------------------------------------------------- steps, counted


def steps(work: Callable[[], object]) -> int:
    """How many functions are called, Python's and C's."""
    count = 0

    def profile(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(profile)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


def each(text: str) -> Shape:
    """One item with a part of it once for each of n; `#` in the part is its number."""
    before, part, after = text.split("~")
    return lambda n: before + "".join(part.replace("#", str(i)) for i in range(n)) + after


def value(part: str) -> dict[str, Shape]:
    """A part that may open something, in every style that a value can have."""
    quoted = part.replace("'", "''")
    escaped = part.replace('"', '\\"')
    return {
        f"{part} plain": each(f"{HEAD}{ITEM}  x: a ~{part}~\n"),
        f"{part} commented": each(f"{HEAD}{ITEM}  # a ~{part}~\n  x: a\n"),
        f"{part} in a literal": each(f"{HEAD}{ITEM}  x: |\n    a ~{part}~\n"),
        f"{part} in single quotes": each(f"{HEAD}{ITEM}  x: 'a ~{quoted}~'\n"),
        f"{part} in double quotes": each(f'{HEAD}{ITEM}  x: "a ~{escaped}~"\n'),
        f"{part} in flow": each(f"{HEAD}{ITEM}  x: [b, 'a ~{quoted}~']\n"),
    }


SHAPES: dict[str, Shape] = {
    **value("x ["),
    **value("x {"),
    **value("x '"),
    **value('x "'),
    **value("[x] "),
    **value("x &a *b !c "),
    "lines of a plain text": each(f"{HEAD}{ITEM}  x: a\n~    more\n~"),
    "lines of a literal": each(f"{HEAD}{ITEM}  x: |\n~    more\n~"),
    "blank lines in a literal": each(f"{HEAD}{ITEM}  x: |\n    a\n~\n~    b\n"),
    "blank lines behind a literal": each(f"{HEAD}{ITEM}  x: |\n    a\n~    \n~"),
    "comments": each(f"{HEAD}{ITEM}  x: a\n~  # c\n~"),
    "keys": each(f"{HEAD}{ITEM}  x:\n~    k#: v\n~"),
    "keys that are numbers": each(f"{HEAD}{ITEM}  x:\n~    #: v\n~"),
    "keys with empty values": each(f"{HEAD}{ITEM}  x:\n~    k#:\n~"),
    "explicit keys": each(f"{HEAD}{ITEM}  x:\n~  - ? k#\n~"),
    "words": each(f"{HEAD}{ITEM}  x:\n~    k#: yes\n~"),
    "elements": each(f"{HEAD}{ITEM}  x:\n~  - a\n~"),
    "empty elements": each(f"{HEAD}{ITEM}  x:\n~  -\n~"),
    "elements with names": each(f"{HEAD}{ITEM}  x:\n~  - name: n#\n~"),
    "elements in flow": each(f"{HEAD}{ITEM}  x: [~a, ~b]\n"),
    "lists in flow": each(f"{HEAD}{ITEM}  x: [~[a], ~b]\n"),
    "keys in flow": each(f"{HEAD}{ITEM}  x: {{~k#: v, ~z: z}}\n"),
    "keys without values in flow": each(f"{HEAD}{ITEM}  x: {{~k#, ~z: z}}\n"),
    "lines in flow": each(f"{HEAD}{ITEM}  x: [\n~   a,\n~   b]\n"),
    "dashes on a line": each(f"{HEAD}{ITEM}  x:\n  ~- ~a\n"),
    "brackets": each(f"{HEAD}{ITEM}  x: ~[~\n"),
    "deep flow": lambda n: f"{HEAD}{ITEM}  x: {'[' * 100}{'a, ' * n}b{']' * 100}\n",
    "items": each(f"{HEAD}~- apiVersion: v1\n  kind: A\n  metadata: {{name: n#}}\n~"),
    "items in flow": each(f"{HEAD[:-1]} [~{{apiVersion: v1, kind: A, x: '#'}}, ~]\n"),
    "items with anchors": each(f"{HEAD}~- {{apiVersion: v1, kind: A, x: &x# b}}\n~"),
    "items that share": each(
        f"{HEAD}{ITEM}  x: &x {{a: b}}\n~- {{apiVersion: v1, kind: A, x: *x}}\n~"
    ),
    "items with items": each(f"{HEAD}~{ITEM}  items: [{{apiVersion: v1, kind: B}}]\n~"),
    "items in an item": each(f"{HEAD}{ITEM}  items:\n~  - {{apiVersion: v1, kind: B}}\n~"),
    "aliases": each(f"{HEAD}{ITEM}  x: &x a\n  y:\n~  - *x\n~"),
    "aliases of maps": each(f"{HEAD}{ITEM}  x: &x {{a: b}}\n  y:\n~  - *x\n~"),
    "merges": each(f"{HEAD}{ITEM}  x: &x {{a: b}}\n  y:\n~  - <<: *x\n~"),
    "a merge of many": each(f"{HEAD}{ITEM}  x: &x {{a: b}}\n  y:\n    <<: [~*x, ~{{}}]\n"),
    "merges in merges": lambda n: (
        f"{HEAD}{ITEM}  x: {'{<<: ' * 200}{{{', '.join(f'k{i}: v' for i in range(n))}}}"
        f"{'}' * 200}\n"
    ),
    "laughs": lambda n: (
        f"{HEAD}{ITEM}  x0: &x0 [{','.join('aaaaaaaaaa')}]\n"
        + "".join(f"  x{i}: &x{i} [{','.join([f'*x{i - 1}'] * 10)}]\n" for i in range(1, 9))
        + "  y:\n"
        + "  - a\n" * n
    ),
    "tags": each(f"{HEAD}{ITEM}  x:\n~  - !t a\n~"),
    "tag directives": each(f"~%TAG !a#! b\n~---\n{OBJECT}"),
    "documents": each(f"~{OBJECT}---\n~"),
    "empty documents": each("~---\n~"),
    "documents with anchors": each(f"~{OBJECT}x: &a# b\n---\n~"),
    "members of a document": each(f"{OBJECT}~k#: &a# v\n~"),
    "members of a ResourceList": each(f"{HEAD[:-1]} []\n~k#: &a# v\n~"),
    "lone carriage returns": each(f"{HEAD}{ITEM}  x: |\n    a\n~    b\r~\n"),
    "line separators": each(f"{HEAD}{ITEM}  x: 'a~b\u2028~'\n"),
    "objects in JSON": lambda n: json.dumps(
        {"apiVersion": "config.kubernetes.io/v1", "kind": "ResourceList", "items": [
            {"apiVersion": "v1", "kind": "A", "metadata": {"name": f"n{i}"}} for i in range(n)]}
    ),
    "lists in JSON": lambda n: json.dumps(
        {"apiVersion": "config.kubernetes.io/v1", "kind": "ResourceList", "items": [
            {"apiVersion": "v1", "kind": "A", "items": [{"apiVersion": "v1", "kind": "B"}]}] * n}
    ),
    "a list in JSON": lambda n: json.dumps(
        {"apiVersion": "v1", "kind": "A", "items": [{"apiVersion": "v1", "kind": "B"}] * n}
    ),
    "documents in JSON": each('~{"apiVersion": "v1", "kind": "A"}\n~'),
    "brackets in JSON": each('{"a": ~[~'),
    "quotes in JSON": each('{"a": "~\\"~'),
}  # fmt: skip


def through(text: str) -> None:
    """Read a text, change all objects in it, ask for lines, drop some, write it."""
    try:
        stream = read_stream(text.encode())
        for n, item in enumerate(stream.items):
            item.replace({**item.value, "added": "1"})
            item.line(("added",))
            if n % 3 == 1:
                stream.drop(item)
        stream.write([{"message": "m"}] if stream.is_resource_list else ())
    except InputError:
        return


SIZE = 150


@pytest.mark.parametrize("switch", ["fast", "reference"])
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_nothing_takes_more_steps_than_it_is_long(
    shape: Shape, switch: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(yamlstream, "WORTH_IT", 0)
    monkeypatch.setenv(SWITCH, "reference" if switch == "reference" else "")
    through(shape(2))  # what is loaded or compiled once is not counted
    counted = []
    for n in (1, 2, 4):
        text = shape(n * SIZE)
        counted.append(steps(lambda text=text: through(text)) / n)
    one, two, four = counted
    # Of each part: a shape that is quadratic has twice and four times as many.
    assert two <= 1.4 * one + 100
    assert four <= 1.6 * one + 100


@pytest.mark.parametrize("opening", ["x [", "x {", "x '", 'x "', "x &a "])
def test_a_line_that_may_leave_something_open_is_gone_over_once(opening: str) -> None:
    """795 KB of `x [` took 65 s: the line was looked for and copied for each bracket."""
    text = f"\n    x: {opening * 1_000}\n    y: 1\n    # {opening * 1_000}\n"
    assert len(list(quickscan._doubtful_lines(text))) == 1


def test_an_item_is_read_alone_without_the_line_before_it() -> None:
    items = ", ".join(f"{{apiVersion: v1, kind: A, metadata: {{name: n{i}}}}}" for i in range(500))
    stream = read_stream(f"{HEAD[:-1]} [{items}]\n".encode())
    regions = [stream._region(item.outline) for item in stream.items]  # type: ignore[attr-defined]
    assert sum(len(region.source()) for region in regions) <= len(items)


def test_a_quote_that_is_not_closed_is_looked_for_once() -> None:
    text = '{"a": "' + '\\"' * 1_000
    assert len(list(limits._BRACKETS.finditer(text))) <= 3
    assert limits.json_too_deep("[" * 1_001 + text) == 1_000


@pytest.mark.parametrize("name", ["merges in merges", "laughs"])
def test_what_aliases_and_merges_expand_to_is_bounded(name: str) -> None:
    (item,) = read_stream(SHAPES[name](20_000).encode()).items
    with pytest.raises(InputError, match="expand to far more than what is written"):
        assert item.value


def test_tag_directives_are_bounded() -> None:
    """libyaml compares each with all others."""
    with pytest.raises(InputError, match="%TAG directives"):
        read_stream(SHAPES["tag directives"](limits.TAG_DIRECTIVES + 2).encode())


# ------------------------------------------------------------------------------- bytes without end


class Endless(io.RawIOBase):
    """A stream without end, which counts what was read of it."""

    def __init__(self, byte: bytes) -> None:
        self.byte = byte
        self.count = 0

    def read(self, size: int = -1) -> bytes:
        assert size > 0
        self.count += size
        return self.byte * size


def test_a_stream_without_end_is_read_to_the_limit_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "INPUT_BYTES", 8 * 2**20)
    endless = Endless(b"x")
    with pytest.raises(InputError, match="larger than 8 MiB"):
        read_all(endless, "standard input")
    assert endless.count <= 9 * 2**20


def test_a_nul_byte_ends_the_reading() -> None:
    endless = Endless(b"\0")
    with pytest.raises(InputError, match="holds a NUL byte in line 1"):
        read_all(endless, "standard input")
    assert endless.count <= 2**20


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a rule, a manifest and a pipe that nobody writes to."""
    (tmp_path / "rule.yaml").write_text(
        "apiVersion: api.kubemod.io/v1beta1\nkind: ModRule\n"
        "metadata: {name: a, namespace: kubemod-system}\n"
        "spec: {type: Reject, targetNamespaceRegex: '.*', match: [{select: $.nothing}]}\n"
    )
    (tmp_path / "web.yaml").write_text(OBJECT)
    (tmp_path / "pipes").mkdir()
    os.mkfifo(tmp_path / "pipes" / "pipe.yaml")
    monkeypatch.chdir(tmp_path)
    return tmp_path


ENDLESS = ["/dev/zero", "/dev/urandom", "/dev/full", "/dev/tty", "pipes/pipe.yaml", "pipes"]


@pytest.mark.parametrize("path", ENDLESS)
def test_a_file_without_end_is_refused_wherever_it_is_named(
    path: str, folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    if not os.path.exists(path):
        pytest.skip(f"no {path} here")
    good = ["-r", "rule.yaml", "-f", "web.yaml"]
    assert run_cli(["check", *good, "-q"]) == 0
    for arguments in (
        ["-r", "rule.yaml", "-f", path],
        ["-r", path, "-f", "web.yaml"],
        [*good, "--config", path],
    ):
        assert run_cli(["check", *arguments]) in (2, UNREADABLE), arguments
        said = capfd.readouterr().err
        assert "internal error" not in said
        assert said.count("\n") == 1


def test_standard_input_without_end_is_refused(folder: Path) -> None:
    for arguments in ([], ["check", "-r", "rule.yaml"], ["apply", "-r", "rule.yaml", "-f", "-"]):
        with open("/dev/zero", "rb") as zeros:
            done = subprocess.run(
                [sys.executable, "-m", "krm_fn", *arguments], stdin=zeros, capture_output=True
            )
        assert done.returncode in (1, UNREADABLE)
        assert done.stdout == b""
        assert b"holds a NUL byte" in done.stderr


def test_what_a_renderer_prints_without_end_is_bounded(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "INPUT_BYTES", 2**20)
    (folder / "bin").mkdir()
    tool = folder / "bin" / "kustomize"
    tool.write_text("#!/bin/sh\nwhile :; do echo 'a: b'; done\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tool.parent}:{os.environ['PATH']}")
    with pytest.raises(InputError, match="larger than 1 MiB"):
        renderers.kustomize(".")


def test_a_pipe_that_somebody_writes_to_is_read(folder: Path) -> None:
    """`krm-fn check -f <(helm template ...)`, which may be slow."""
    for slow in (False, True):
        source, sink = os.pipe()
        if not slow:
            os.write(sink, OBJECT.encode())
            os.close(sink)
        else:
            script = f"import os, time; time.sleep(0.2); os.write({sink}, b'kind: A')"
            writer = subprocess.Popen([sys.executable, "-c", script], pass_fds=[sink])
            os.close(sink)
        assert read_file(f"/dev/fd/{source}") == (b"kind: A" if slow else OBJECT.encode())
        os.close(source)
        if slow:
            assert writer.wait() == 0


def test_the_null_device_is_an_empty_file() -> None:
    assert read_file(os.devnull) == b""
