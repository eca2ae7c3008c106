from __future__ import annotations

from typing import Any

import pytest

from krm_fn.lang.go.values import (
    GoInt,
    GoInt64,
    GoList,
    GoMap,
    GoUint8,
    from_bytes,
    kind_name,
    to_bytes,
    type_name,
)


@pytest.mark.parametrize(
    ("value", "type_text", "kind"),
    [
        (None, "<nil>", "invalid"),
        (True, "bool", "bool"),
        (1, "float64", "float64"),
        (1.5, "float64", "float64"),
        (GoInt(1), "int", "int"),
        (GoInt64(1), "int64", "int64"),
        (GoUint8(1), "uint8", "uint8"),
        ("a", "string", "string"),
        ([1], "[]interface {}", "slice"),
        (GoList(["a"], "[]string"), "[]string", "slice"),
        ({}, "map[string]interface {}", "map"),
        (GoMap({}, "map[string]string"), "map[string]string", "map"),
    ],
)
def test_values_know_their_go_type_and_kind(value: Any, type_text: str, kind: str) -> None:
    assert (type_name(value), kind_name(value)) == (type_text, kind)


def test_bytes_that_are_no_text_survive_and_join_again() -> None:
    halves = [from_bytes("日".encode()[:1]), from_bytes("日".encode()[1:])]
    assert from_bytes(to_bytes("".join(halves))) == "日"
    assert to_bytes("\ud800") == "\ufffd".encode()
