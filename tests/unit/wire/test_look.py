"""Which texts that cannot be read nobody may pass over."""

from __future__ import annotations

import pytest

from krm_fn.wire.look import may_be_manifest


@pytest.mark.parametrize(
    "data",
    [
        b"apiVersion: v1\nkind: [\n",
        b'{"apiVersion": "v1",}',
        b"  apiversion: v1\n\x00",
        b'"api\\x56ersion": v1\n- a',
        b'? "api\\\n  Version"\n: v1\n- a',
        b'"\\u0061piVersion": v1\n- a',
        b'"\\U00000061piVersion": v1\n- a',
        "apiVersion: v1\nkind: Pod\n".encode("utf-16"),
        b"kind: Pod\nmetadata: {name: x}\n- a",
        b"!!binary YXBpVmVyc2lvbg==: v1\n- a",
        b"!<tag:yaml.org,2002:binary> YXBpVmVyc2lvbg==: v1\n- a",
        b"%TAG !b! tag:yaml.org,2002:bin\n---\n!b!ary YXBpVmVyc2lvbg==: v1\n- a",
    ],
)
def test_what_kubectl_may_find_an_object_in_is_no_other_programs_text(data: bytes) -> None:
    assert may_be_manifest(data)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{{ if .x }}\nreplicas: 2\n",
        b'{"name": "web", }',
        b"kind: Pod\n- a",
        b"metadata: {name: x}\n- a",
        b"\x00GITCRYPT\x00!!\xff!<",
        b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR",
        "name: web\n".encode("utf-16"),
    ],
)
def test_what_nobody_finds_an_object_in_is(data: bytes) -> None:
    assert not may_be_manifest(data)
