"""The world of a guest: what it can see, and that it sees the same in every run."""

from __future__ import annotations

import pytest
from kw_support import host, policy, quoted, wat

WASI = "wasi_snapshot_preview1"
OUT = """
  (func $say (param $fd i32) (param $at i32) (param $len i32)
    (i32.store (i32.const 8) (local.get $at)) (i32.store (i32.const 12) (local.get $len))
    (drop (call $write (local.get $fd) (i32.const 8) (i32.const 1) (i32.const 16))))
"""


def program(body: str, imports: str = "", data: str = "", said: str = '{"accepted":true}') -> bytes:
    """A program that prints `said` after `body`; `data` lies at 2048."""
    return wat(f"""(module
      (import "{WASI}" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
      {imports}
      (memory (export "memory") 1)
      (data (i32.const 1024) "{quoted(said)}")
      (data (i32.const 2048) "{quoted(data)}")
      {OUT}
      (func (export "_start") {body}
        (call $say (i32.const 1) (i32.const 1024) (i32.const {len(said.encode())}))))""")


CLOSED = {
    "environ": (
        "environ_sizes_get",
        "(param i32 i32) (result i32)",
        "(i32.add (call $f (i32.const 32) (i32.const 36)) (i32.load (i32.const 32)))",
        0,
    ),
    "files": (
        "path_open",
        "(param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)",
        "(call $f (i32.const 3) (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 0)"
        " (i64.const 0) (i64.const 0) (i32.const 0) (i32.const 64))",
        8,
    ),
    "preopens": (
        "fd_prestat_get",
        "(param i32 i32) (result i32)",
        "(call $f (i32.const 3) (i32.const 64))",
        8,
    ),
    "sockets": (
        "sock_shutdown",
        "(param i32 i32) (result i32)",
        "(call $f (i32.const 3) (i32.const 0))",
        8,
    ),
}


@pytest.mark.parametrize(("name", "kind", "call", "result"), CLOSED.values(), ids=CLOSED)
def test_there_is_nothing_outside(name: str, kind: str, call: str, result: int) -> None:
    wasm = program(
        f"(if (i32.ne {call} (i32.const {result})) (then unreachable))",
        f'(import "{WASI}" "{name}" (func $f {kind}))',
    )
    answer = policy(wasm, "wasi").validate({}, {}, host())
    assert answer.accepted, answer.fault


def test_clock_and_chance_are_the_same_in_every_run() -> None:
    imports = (
        f'(import "{WASI}" "clock_time_get" (func $clock (param i32 i64 i32) (result i32)))'
        f'(import "{WASI}" "random_get" (func $random (param i32 i32) (result i32)))'
    )
    body = """
      (drop (call $clock (i32.const 0) (i64.const 0) (i32.const 512)))
      (drop (call $random (i32.const 520) (i32.const 40)))
      (call $say (i32.const 2) (i32.const 512) (i32.const 48))
      unreachable"""
    loaded = policy(program(body, imports), "wasi")
    assert len({str(loaded.validate({}, {}, host()).fault) for _ in range(3)}) == 1


def test_the_status_and_stderr_of_a_program_are_its_error() -> None:
    imports = f'(import "{WASI}" "proc_exit" (func $exit (param i32)))'
    body = "(call $say (i32.const 2) (i32.const 2048) (i32.const 8)) (call $exit (i32.const 3))"
    answer = policy(program(body, imports, " went \n\n"), "wasi").validate({}, {}, host())
    assert (answer.accepted, answer.code, answer.message) == (False, 500, "went")
    assert answer.fault is not None
    assert "status 3" in answer.fault.message


def test_an_answer_of_the_host_is_appended_to_stdin() -> None:
    names = "kubewardentracingnope"
    body = """
      (if (i32.ne (call $host (i32.const 2048) (i32.const 10) (i32.const 2058) (i32.const 7)
                   (i32.const 2065) (i32.const 4) (i32.const 0) (i32.const 0)) (i32.const 1))
        (then unreachable))
      (i32.store (i32.const 8) (i32.const 4096)) (i32.store (i32.const 12) (i32.const 1000))
      (drop (call $read (i32.const 0) (i32.const 8) (i32.const 1) (i32.const 16)))
      (call $say (i32.const 2) (i32.const 4096) (i32.load (i32.const 16)))
      unreachable"""
    imports = (
        '(import "host" "call"'
        " (func $host (param i32 i32 i32 i32 i32 i32 i32 i32) (result i32)))"
        f'(import "{WASI}" "fd_read" (func $read (param i32 i32 i32 i32) (result i32)))'
    )
    wasm = program(body, imports, names)
    answer = policy(wasm, "wasi").validate({}, {"a": 1}, host())
    assert answer.message == '{"request":{"a":1},"settings":{}}unknown operation: nope'


BAD_TEXT = {
    "a byte that begins nothing": (b"ok\xff", "invalid utf-8 sequence of 1 bytes from index 2"),
    "a sequence that breaks off": (b"\xe2\x82x", "invalid utf-8 sequence of 2 bytes from index 0"),
    "a sequence that is cut off": (b"a\xe2\x82", "incomplete utf-8 byte sequence from index 1"),
}


def bytes_to(stream: int, data: bytes, then: str = "") -> bytes:
    """A program that writes these bytes, and nothing else."""
    escaped = "".join(f"\\{byte:02x}" for byte in data)
    return wat(f"""(module
      (import "{WASI}" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
      (memory (export "memory") 1)
      (data (i32.const 1024) "{escaped}")
      {OUT}
      (func (export "_start")
        (call $say (i32.const {stream}) (i32.const 1024) (i32.const {len(data)})) {then}))""")


@pytest.mark.parametrize(("stream", "name"), [(1, "stdout"), (2, "stderr")])
@pytest.mark.parametrize(("data", "reason"), BAD_TEXT.values(), ids=BAD_TEXT)
def test_output_that_is_no_utf8_is_told_in_rusts_words(
    stream: int, name: str, data: bytes, reason: str
) -> None:
    loaded = policy(bytes_to(stream, data), "wasi")
    words = f"{name} pipe conversion error: Cannot convert buffer to UTF8 string: {reason}"
    answer = loaded.validate({}, {}, host())
    assert (answer.accepted, answer.code, answer.message) == (False, 500, words)
    assert loaded.check_settings({}, host()).message == words


def test_stdout_of_a_program_that_fails_is_not_read() -> None:
    answer = policy(bytes_to(1, b"\xff", "unreachable"), "wasi").validate({}, {}, host())
    assert answer.fault is not None
    assert (answer.message, answer.fault.kind) == ("", "guest-trap")
