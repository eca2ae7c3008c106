"""Modes opa and gatekeeper: Rego that OPA compiled to WebAssembly.

Knows OPA's interface: how values go in and out, and who computes what the module does not.
Source: OPA's WebAssembly ABI 1.0 to 1.3, burrego; vectors' README, 44 to 51.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from krm_fn import limits
from krm_fn.dialects.kubewarden.codec import jsontext
from krm_fn.dialects.kubewarden.faults import Fault, FaultKind
from krm_fn.dialects.kubewarden.runtime.builtins import BUILTINS, BuiltinError
from krm_fn.dialects.kubewarden.runtime.engine import Engine, ExitError, Guest, HostFunction

_NEEDED: Final = {
    "builtins": " -> i32",
    "opa_malloc": "i32 -> i32",
    "opa_json_parse": "i32 i32 -> i32",
    "opa_json_dump": "i32 -> i32",
    "opa_heap_ptr_get": " -> i32",
    "opa_eval_ctx_new": " -> i32",
    "opa_eval_ctx_set_input": "i32 i32 -> ",
    "opa_eval_ctx_set_data": "i32 i32 -> ",
    "opa_eval_ctx_get_result": "i32 -> i32",
    "eval": "i32 -> i32",
}
_CHUNK: Final = 65_536


class _Evaluation:
    """What host functions need: the ids of the functions that the module leaves to its host."""

    def __init__(self) -> None:
        self.names: dict[int, str] = {}


class Rego:
    """A module in one of these modes. Raises Fault for what does not keep to them."""

    def __init__(self, engine: Engine, module: Any) -> None:
        self._linked = engine.link(module, _FUNCTIONS, memory=True)
        for name, signature in _NEEDED.items():
            if self._linked.signature(name) != signature:
                raise Fault(
                    FaultKind.WRONG_ABI,
                    f"the module exports no function {name} ({signature}): it is no Rego policy, "
                    "or its metadata names the wrong execution mode",
                )
        guest = self._start(engine.limits.seconds)
        missing = sorted(set(guest.state.names.values()) - set(BUILTINS))
        if missing:
            raise Fault(FaultKind.MISSING_BUILTIN, f"Missing Rego builtins: {', '.join(missing)}")

    def evaluate(self, document: Any, data: Any, seconds: float) -> Any:
        """The decoded result set. Raises Fault."""
        guest = self._start(seconds)

        def run() -> bytes:
            call = _caller(guest)
            data_at = _parse(guest, jsontext.dumps(data))
            input_at = _parse(guest, jsontext.dumps(document))
            context = call("opa_eval_ctx_new")
            call("opa_eval_ctx_set_input", context, input_at)
            call("opa_eval_ctx_set_data", context, data_at)
            call("eval", context)
            return _dump(guest, call("opa_eval_ctx_get_result", context))

        text = self._enter(guest, run, "validate", seconds)
        try:
            return jsontext.value(jsontext.loads(text))
        except jsontext.JsonError as error:
            raise Fault(FaultKind.BAD_RESPONSE, f"its result is no JSON: {error}") from None

    def _start(self, seconds: float) -> Guest:
        guest = self._linked.start(_Evaluation(), seconds)
        names = self._enter(
            guest, lambda: _dump(guest, _caller(guest)("builtins")), "its list of builtins", seconds
        )
        try:
            known = jsontext.loads(names)
        except jsontext.JsonError:
            known = None
        if not isinstance(known, dict) or not all(type(n) is int for n in known.values()):
            raise Fault(FaultKind.WRONG_ABI, "the module lists its builtins in no known way")
        guest.state.names = {number: name for name, number in known.items()}
        return guest

    def _enter(self, guest: Guest, what: Callable[[], Any], phase: str, seconds: float) -> Any:
        try:
            return self._linked.enter(guest, what, phase, seconds)
        except ExitError as exit_:
            raise Fault(
                FaultKind.GUEST_TRAP, f"{phase} ends with proc_exit({exit_.status})"
            ) from None


def _caller(guest: Guest) -> Callable[..., Any]:
    exports = guest.instance.exports(guest.store)
    return lambda name, *arguments: exports[name](guest.store, *arguments)


def _parse(guest: Guest, text: str) -> int:
    """Put a JSON text into the guest and let it read it: the address of the value."""
    call = _caller(guest)
    data = text.encode()
    at = call("opa_malloc", len(data))
    guest.write(at, data)
    value: int = call("opa_json_parse", at, len(data))
    if value == 0:
        raise Fault(FaultKind.GUEST_TRAP, "the module cannot read its input")
    return value


def _dump(guest: Guest, value: int) -> bytes:
    return _c_string(guest, _caller(guest)("opa_json_dump", value))


def _c_string(guest: Guest, at: int) -> bytes:
    """Bytes up to a zero."""
    at &= 0xFFFFFFFF
    found = bytearray()
    size = guest.memory_size()
    while len(found) < limits.WASM_RESPONSE:
        piece = guest.read(at, min(_CHUNK, size - at)) if at < size else b""
        if not piece:
            raise Fault(FaultKind.WRONG_ABI, "a text of the module does not end in its memory")
        end = piece.find(b"\0")
        if end >= 0:
            return bytes(found + piece[:end])
        found += piece
        at += len(piece)
    raise Fault(
        FaultKind.BAD_RESPONSE, f"it answers with more than {limits.WASM_RESPONSE // 2**20} MiB"
    )


# -------------------------------------------------------------------------------- host functions

_EVALUATION_FAILED: Final = "wasm engine error: error invoking opa_eval function: "


def _abort(guest: Guest, at: int) -> None:
    reason = _c_string(guest, at).decode(errors="replace")
    raise Fault(FaultKind.GUEST_TRAP, f"{_EVALUATION_FAILED}{reason}")


def _print(guest: Guest, at: int) -> None:
    return


def _builtin(guest: Guest, number: int, context: int, *arguments: int) -> int:
    name = guest.state.names.get(number, "")
    if name not in BUILTINS:
        raise Fault(FaultKind.WRONG_ABI, f"it calls builtin {number}, which it does not list")
    count, function = BUILTINS[name]
    if count != len(arguments):
        raise Fault(FaultKind.WRONG_ABI, f"it calls {name} with {len(arguments)} arguments")
    try:
        values = [jsontext.value(jsontext.loads(_dump(guest, one))) for one in arguments]
        result = function(*values)
    except (BuiltinError, jsontext.JsonError, ArithmeticError, RecursionError, ValueError) as error:
        raise Fault(
            FaultKind.GUEST_ERROR,
            f"{_EVALUATION_FAILED}Builtin error [{jsontext.dumps(name)}]: "
            f"{jsontext.dumps(str(error))}",
        ) from None
    return _parse(guest, jsontext.dumps(result))


_FUNCTIONS: Final = {
    ("env", "opa_abort"): HostFunction("i32", "", _abort),
    ("env", "opa_println"): HostFunction("i32", "", _print),
    **{
        ("env", f"opa_builtin{count}"): HostFunction(
            " ".join(["i32"] * (count + 2)), "i32", _builtin
        )
        for count in range(5)
    },
}
