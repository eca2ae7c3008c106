from __future__ import annotations

import pytest

from krm_fn import limits
from krm_fn.errors import InputError
from krm_fn.wire import Origin, read_stream
from krm_fn.wire.jsonstream import JsonStream
from krm_fn.wire.yamlstream import YamlStream

HERE = Origin("d/f.yaml", line=3, place="document 1")
POD = "apiVersion: v1\nkind: Pod\n"


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b'{"apiVersion": "v1", "kind": "Pod"}', JsonStream),
        (b' \n[{"apiVersion": "v1", "kind": "Pod"}]', JsonStream),
        (b"{apiVersion: v1, kind: Pod}", YamlStream),
        (b'{"apiVersion": "v1", "kind": "Pod"} # c\n', YamlStream),
        (b'{"apiVersion": "v1", "kind": "Pod"}\n---\napiVersion: v1\nkind: X\n', YamlStream),
        (b'{"apiVersion": "v1", "kind": "Pod", "a": "x\n  y"}', YamlStream),
        (POD.encode(), YamlStream),
    ],
)
def test_json_is_told_from_yaml_in_flow_style(data: bytes, kind: type) -> None:
    stream = read_stream(data)
    assert type(stream) is kind
    assert stream.items[0].head.kind == "Pod"
    assert stream.write() == data


def test_a_line_break_in_a_quoted_text_is_read_as_yaml_readers_do() -> None:
    stream = read_stream(b'{"apiVersion": "v1", "kind": "Pod", "a": "x\n  y"}')
    assert stream.items[0].value["a"] == "x y"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"a: \xff\n", "line 1: not valid UTF-8: byte 0xff"),
        (b"a: 1\nb: \xc3\n", "line 2: not valid UTF-8: byte 0xc3"),
        (b"\xef\xbb\xbfa: 1\nb: \xe9\n", "line 2: not valid UTF-8: byte 0xe9"),
        (b"\xed\xa0\x80", "line 1: not valid UTF-8: byte 0xed"),
        ("a: 1".encode("utf-16"), "input: UTF-16, which is not supported here; save it as UTF-8"),
        (b"a\0b", "line 1: not valid YAML: control characters are not allowed"),
        (b"a: \x07\n", "line 1: not valid YAML: control characters are not allowed"),
        (b"a: b: c\n", "line 1: not valid YAML: mapping values are not allowed in this context"),
        (b"{", "line 1: not valid JSON"),
    ],
)
def test_what_is_no_text_is_refused_in_one_sentence(data: bytes, message: str) -> None:
    with pytest.raises(InputError) as caught:
        read_stream(data)
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


def test_a_byte_order_mark_stays() -> None:
    data = b"\xef\xbb\xbf" + POD.encode()
    stream = read_stream(data)
    assert stream.items[0].value == {"apiVersion": "v1", "kind": "Pod"}
    assert stream.write() == data
    stream.items[0].replace({**stream.items[0].value, "a": 1})
    assert stream.write() == data + b"a: 1\n"


def test_too_large_an_input_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "INPUT_BYTES", 2**20)
    with pytest.raises(InputError, match=r"x\.yaml: larger than 1 MiB"):
        read_stream(b" " * (2**20 + 1), "x.yaml")


@pytest.mark.parametrize(
    ("annotations", "origin", "shown"),
    [
        ("", HERE, "d/f.yaml:3"),
        (
            "config.kubernetes.io/path: a.yaml\n    config.kubernetes.io/index: '2'",
            Origin("a.yaml", 2),
            "a.yaml[2]",
        ),
        ("internal.config.kubernetes.io/path: b.yaml", Origin("b.yaml"), "b.yaml"),
        ('config.kubernetes.io/origin: "path: c.yaml\\nrepo: x"', Origin("c.yaml"), "c.yaml"),
        (
            "config.kubernetes.io/origin: 5",
            Origin("d/f.yaml", line=3, place="document 1"),
            "d/f.yaml:3",
        ),
    ],
)
def test_an_object_knows_where_the_user_wrote_it(
    annotations: str, origin: Origin, shown: str
) -> None:
    text = f"# c\n---\n{POD}metadata:\n  annotations:\n    {annotations or '{}'}\n"
    item = read_stream(text.encode(), "d/f.yaml").items[0]
    assert item.origin == origin
    assert str(item.origin) == shown


def test_an_object_from_standard_input_is_known_by_its_place() -> None:
    item = read_stream(POD.encode()).items[0]
    assert str(item.origin) == "document 1"


@pytest.mark.parametrize("text", ["metadata: x\n", "metadata: [1]\n", "a: {b: 1, b: 2}\n"])
def test_an_object_with_odd_metadata_still_has_an_origin(text: str) -> None:
    item = read_stream((POD + text).encode(), "f.yaml").items[0]
    assert str(item.origin) == "f.yaml:1"
