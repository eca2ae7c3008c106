"""Hostile and broken modules: each fault has its kind, denies, and leaves the process alive."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from kw_support import ACCEPT, IMPORTS, engine, guest, host, policy, wapc, wat

from krm_fn import limits
from krm_fn.dialects.kubewarden.faults import Fault, FaultKind
from krm_fn.dialects.kubewarden.policy.decision import Terms, decide
from krm_fn.dialects.kubewarden.policy.policy import ExecutionMode, LoadedPolicy
from krm_fn.dialects.kubewarden.runtime.engine import Engine, Limits

FUEL = 50_000_000
LOOP = "(loop $again (br $again))"


def test_the_smallest_guest_accepts() -> None:
    loaded = policy(wapc())
    assert loaded.check_settings({}, host()).valid
    assert loaded.validate({}, {}, host()).accepted


NOT_MODULES = {
    "empty": (b"", "empty"),
    "text": (b"(module)", "no WebAssembly"),
    "component": (b"\0asm\r\0\x01\0", "component"),
    "version 2": (b"\0asm\x02\0\0\0", "version"),
    "section past the end": (b"\0asm\x01\0\0\0\x01\x20\x01", "cut off"),
    "length that does not end": (b"\0asm\x01\0\0\0\x01\xff\xff\xff\xff\xff\xff", "cut off"),
    "broken inside": (b"\0asm\x01\0\0\0\x01\x03\x01\x7f\x7f", "no usable"),
}


@pytest.mark.parametrize(("data", "reason"), NOT_MODULES.values(), ids=NOT_MODULES)
def test_what_is_no_module_says_why(data: bytes, reason: str) -> None:
    with pytest.raises(Fault, match=reason) as caught:
        policy(data)
    assert caught.value.kind is FaultKind.BAD_MODULE


def test_a_module_that_is_truncated_is_cut_off() -> None:
    with pytest.raises(Fault, match="cut off"):
        policy(wapc()[:-40])


def test_a_module_above_the_size_limit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "WASM_MODULE", 100)
    with pytest.raises(Fault, match="larger"):
        policy(wapc())


WRONG = {
    "no exports": ("(module)", "no __guest_call and no memory"),
    "only run": ('(module (func (export "run")))', "no __guest_call"),
    "i64": (
        '(module (memory (export "memory") 1)'
        ' (func (export "__guest_call") (param i64) (result i32) (i32.const 0)))',
        r"\(i64 -> i32\); it must be \(i32 i32 -> i32\)",
    ),
    "unknown import": (
        '(module (import "env" "launch_missiles" (func))'
        ' (memory (export "memory") 1) (func (export "__guest_call")))',
        "`env::launch_missiles` has not been defined",
    ),
    "abort": (
        '(module (import "env" "abort" (func (param i32 i32 i32 i32))))',
        "build it with: asc --use abort=",
    ),
    "start section": (
        f'(module {IMPORTS} (memory (export "memory") 1) (func $s) (start $s)'
        ' (func (export "__guest_call") (param i32 i32) (result i32) (i32.const 0)))',
        "start section",
    ),
}


@pytest.mark.parametrize(("text", "reason"), WRONG.values(), ids=WRONG)
def test_a_module_of_another_interface_is_told_what_is_missing(text: str, reason: str) -> None:
    with pytest.raises(Fault, match=reason) as caught:
        policy(wat(text))
    assert caught.value.kind is FaultKind.WRONG_ABI


@pytest.mark.parametrize("mode", ["wasi", "opa", "gatekeeper"])
def test_a_wapc_module_in_another_mode_names_what_is_missing(mode: str) -> None:
    with pytest.raises(Fault, match=r"unknown import|exports no") as caught:
        policy(wapc(), mode)
    assert caught.value.kind is FaultKind.WRONG_ABI


FAILING = {
    "unreachable": (guest(body="unreachable"), FaultKind.GUEST_TRAP, "unreachable"),
    "recursion": (
        guest(body="(call $deep)", extra="(func $deep (call $deep))"),
        FaultKind.GUEST_TRAP,
        "call stack exhausted",
    ),
    "wild pointer": (
        guest(body="(call $response (i32.const -16) (i32.const 4096)) (return (i32.const 1))"),
        FaultKind.WRONG_ABI,
        "0xfffffff0",
    ),
    "not JSON": (guest("{not json"), FaultKind.BAD_RESPONSE, "no ValidationResponse"),
    "silent": (guest(body="(return (i32.const 1))"), FaultKind.GUEST_ERROR, "No error message OR"),
    "its own error": (
        guest(
            body="(call $error (i32.const 64) (i32.const 4)) (return (i32.const 0))",
            extra='(data (i32.const 64) "oops")',
        ),
        FaultKind.GUEST_ERROR,
        "oops",
    ),
    "endless": (guest(body=LOOP), FaultKind.OUT_OF_FUEL, "fuel of 50,000,000"),
    "memory": (
        guest(
            body="(loop $more (br_if $more (i32.ne (memory.grow (i32.const 16)) (i32.const -1))))"
            " unreachable"
        ),
        FaultKind.MEMORY_LIMIT,
        "no more than 64 MiB",
    ),
}


@pytest.mark.parametrize(("wasm", "kind", "said"), FAILING.values(), ids=FAILING)
def test_a_fault_in_an_evaluation_denies_with_its_kind(
    wasm: Callable[[], bytes], kind: FaultKind, said: str
) -> None:
    loaded = policy(wasm(), fuel=FUEL, memory=64 * 2**20)
    answer = loaded.validate({}, {}, host())
    decision = decide(answer, {"kind": "Pod"}, Terms("p"))
    assert not decision.allowed
    assert decision.code == 500
    assert answer.fault is not None
    assert answer.fault.kind is kind
    assert said in answer.fault.message


def test_the_fuel_ends_with_the_same_words_every_time() -> None:
    loaded = policy(wapc(body=LOOP), fuel=FUEL)
    said = {str(loaded.validate({}, {}, host()).fault) for _ in range(3)}
    assert len(said) == 1


STARTING = '(func (export "wapc_init") {})'


@pytest.mark.parametrize(
    ("wasm", "phase"),
    [(guest(body=LOOP), "validate"), (guest(extra=STARTING.format(LOOP)), "wapc_init")],
    ids=["validate", "wapc_init"],
)
def test_the_wall_clock_backs_the_fuel_up(wasm: Callable[[], bytes], phase: str) -> None:
    loaded = policy(wasm(), fuel=2**62, seconds=0.3)
    answer = loaded.validate({}, {}, host())
    assert answer.fault is not None
    assert answer.fault.kind is FaultKind.TIMEOUT
    assert phase in answer.fault.message


def test_the_next_call_works_after_one_that_was_stopped() -> None:
    shared = engine(fuel=FUEL)
    bad = LoadedPolicy(shared, wapc(body=LOOP), ExecutionMode.WAPC, 30.0)
    good = LoadedPolicy(shared, wapc(), ExecutionMode.WAPC, 30.0)
    assert not bad.validate({}, {}, host()).accepted
    assert good.validate({}, {}, host()).accepted


def test_more_initial_memory_than_allowed_is_a_memory_fault() -> None:
    loaded = policy(wapc(memory='(memory (export "memory") 40000)'))
    answer = loaded.validate({}, {}, host())
    assert answer.fault is not None
    assert answer.fault.kind is FaultKind.MEMORY_LIMIT


def test_every_request_meets_a_fresh_guest() -> None:
    counting = wapc(
        body="(global.set $n (i32.add (global.get $n) (i32.const 1)))"
        "(if (i32.gt_s (global.get $n) (i32.const 1)) (then unreachable))",
        extra="(global $n (mut i32) (i32.const 0))",
    )
    loaded = policy(counting)
    assert [loaded.validate({}, {}, host()).accepted for _ in range(3)] == [True] * 3


COUNTER = Path(__file__).parents[3] / "conformance/kubewarden/policies/wat/w-counter-settings.wat"
"""Accepts only where the same guest was not asked about its settings before."""


def test_settings_are_checked_by_a_guest_of_their_own() -> None:
    """As on the policy server. kwctl has one guest for both, in which this policy says no."""
    loaded = policy(wat(COUNTER.read_text()))
    assert loaded.check_settings({}, host()).valid
    assert loaded.validate({}, {}, host()).accepted
    shared = loaded.open(host())
    assert shared.check_settings({}).valid
    assert shared.validate({}, {}).message == "no"


def test_two_threads_get_each_their_own_fault() -> None:
    shared = engine(fuel=FUEL)
    kinds = {
        FaultKind.GUEST_TRAP: wapc(body="unreachable"),
        FaultKind.WRONG_ABI: wapc(body="(call $response (i32.const -16) (i32.const 4096))"),
    }
    seen: dict[FaultKind, set[FaultKind | None]] = {kind: set() for kind in kinds}

    def work(kind: FaultKind, loaded: LoadedPolicy) -> None:
        for _ in range(50):
            fault = loaded.validate({}, {}, host()).fault
            seen[kind].add(fault.kind if fault else None)

    loaded = {k: LoadedPolicy(shared, wasm, ExecutionMode.WAPC, 30.0) for k, wasm in kinds.items()}
    threads = [threading.Thread(target=work, args=pair) for pair in loaded.items()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == {kind: {kind} for kind in kinds}


def test_code_that_takes_too_much_to_compile_ends_in_its_own_process() -> None:
    """Many variables that live through many loops: 54 KB of code, gigabytes to compile."""
    set_all = "".join(f"(local.set {n} (i32.load (i32.const 0)))" for n in range(1, 2_000))
    loops = "(loop (br_if 0 (local.get 0)))" * 3_000
    use_all = "".join(
        f"(local.set 0 (i32.add (local.get 0) (local.get {n})))" for n in range(1, 2_000)
    )
    bomb = wat(
        '(module (memory 1) (func (export "f") (param i32) (result i32)'
        f" (local {'i32 ' * 2_000}) {set_all} {loops} {use_all} (local.get 0)))"
    )
    with pytest.raises(Fault, match=r"takes more than \d+ MiB of memory") as caught:
        Engine(Limits()).compile(bomb)
    assert caught.value.kind is FaultKind.BAD_MODULE


def test_a_module_compiled_apart_runs_as_one_compiled_here() -> None:
    apart = LoadedPolicy(Engine(Limits()), wapc(), ExecutionMode.WAPC, 30.0)
    assert apart.validate({}, {}, host()).accepted


BAD_ANSWERS = {
    "empty": "",
    "NaN": '{"accepted":true,"mutated_object":NaN}',
    "deep": "[" * 20_000,
    "half a pair": '{"accepted":true,"message":"\\ud800"}',
    "not finite": '{"accepted":true,"mutated_object":1e999}',
}


@pytest.mark.parametrize("text", BAD_ANSWERS.values(), ids=BAD_ANSWERS)
def test_what_is_no_answer_is_a_bad_response(text: str) -> None:
    answer = policy(wapc(text)).validate({}, {}, host())
    assert answer.fault is not None
    assert answer.fault.kind is FaultKind.BAD_RESPONSE


def test_an_answer_that_is_no_utf8_is_a_bad_response() -> None:
    wasm = wapc(
        body="(call $response (i32.const 64) (i32.const 2)) (return (i32.const 1))",
        extra='(data (i32.const 64) "\\ff\\fe")',
    )
    fault = policy(wasm).validate({}, {}, host()).fault
    assert fault is not None
    assert fault.kind is FaultKind.BAD_RESPONSE


def test_a_guest_cannot_call_its_host_without_end() -> None:
    wasm = wapc(
        body="(loop $again (drop (call $host_call (i32.const 0) (i32.const 0) (i32.const 0)"
        " (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0))) (br $again))"
    )
    fault = policy(wasm).validate({}, {}, host()).fault
    assert fault is not None
    assert "host calls" in fault.message


def test_answers_of_an_accepting_guest_are_no_faults() -> None:
    assert policy(wapc(ACCEPT)).validate({}, {}, host()).fault is None
