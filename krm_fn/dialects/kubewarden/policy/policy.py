"""A loaded policy: a module in its execution mode, which checks settings and judges requests.

Every check and every judgement gets a fresh guest. Knows the operations and payloads of each mode;
what follows from an answer is elsewhere (`decision`).
Source: policy-evaluator policy_evaluator.rs and runtimes; vectors' README, 8 to 19, 32, 35.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Final

from krm_fn.dialects.kubewarden.codec import jsontext, rust
from krm_fn.dialects.kubewarden.faults import Fault, FaultKind
from krm_fn.dialects.kubewarden.host.policyhost import PolicyHost
from krm_fn.dialects.kubewarden.host.reads import ReadError
from krm_fn.dialects.kubewarden.policy.answer import (
    INTERNAL,
    PolicyAnswer,
    SettingsAnswer,
    failed,
    read_answer,
    read_gatekeeper,
    read_opa,
    read_settings_answer,
)
from krm_fn.dialects.kubewarden.runtime.command import Command
from krm_fn.dialects.kubewarden.runtime.engine import Engine
from krm_fn.dialects.kubewarden.runtime.rego import Rego
from krm_fn.dialects.kubewarden.runtime.wapc import Session, Wapc
from krm_fn.dialects.kubewarden.store.sections import read_module
from krm_fn.values import Json


class ExecutionMode(StrEnum):
    WAPC = "kubewarden-wapc"
    WASI = "wasi"
    OPA = "opa"
    GATEKEEPER = "gatekeeper"


_CALL_FAILED: Final = f"{INTERNAL}Guest call failure: "


class LoadedPolicy:
    """A policy of one mode. Raises Fault where the module cannot be loaded in it."""

    def __init__(self, engine: Engine, wasm: bytes, mode: ExecutionMode, seconds: float) -> None:
        self.mode = mode
        self.seconds = seconds
        contents = read_module(wasm)
        module = engine.compile(wasm)
        self._wapc: Wapc | None = None
        self._command: Command | None = None
        self._rego: Rego | None = None
        if mode is ExecutionMode.WAPC:
            self._wapc = Wapc(engine, module, contents.has_start)
        elif mode is ExecutionMode.WASI:
            self._command = Command(engine, module)
        else:
            self._rego = Rego(engine, module)

    def check_settings(self, settings: Json, host: PolicyHost) -> SettingsAnswer:
        """What the policy says to its settings. Raises Fault where it does not even start."""
        if self._wapc is not None:
            return self.open(host).check_settings(settings)
        if self._command is not None:
            return self._check_command(self._command, settings, host)
        return SettingsAnswer(True)

    def _check_command(self, command: Command, settings: Json, host: PolicyHost) -> SettingsAnswer:
        payload = jsontext.dumps(settings).encode()
        try:
            data = command.run("validate-settings", payload, host, self.seconds)
        except Fault as fault:
            return SettingsAnswer(False, fault.said, fault)
        return read_settings_answer(data, "Cannot deserialize settings validation response: ")

    def validate(
        self, settings: Json, request: Any, host: PolicyHost, *, raw: bool = False
    ) -> PolicyAnswer:
        """What the policy says to a request, faults included. `raw`: it is no AdmissionRequest."""
        try:
            if self._rego is not None:
                if raw and self.mode is ExecutionMode.GATEKEEPER:
                    raise _refused("Gatekeeper does not support raw validation requests")
                return self._evaluate(self._rego, settings, request, host)
            if self._command is not None:
                return self._run(self._command, settings, request, host)
            with_session = self.open(host)
        except Fault as fault:
            return failed(fault)
        return with_session.validate(settings, request)

    def open(self, host: PolicyHost) -> OpenPolicy:
        """A guest of mode kubewarden-wapc that takes several calls. Raises Fault.

        The policy server makes one for each; kwctl has one for the settings and the request.
        """
        assert self._wapc is not None
        try:
            return OpenPolicy(self._wapc.open(host, self.seconds))
        except Fault as fault:
            fault.said = f"{INTERNAL}{fault.message}"
            raise

    def _run(
        self, command: Command, settings: Json, request: Any, host: PolicyHost
    ) -> PolicyAnswer:
        data = command.run("validate", _payload(settings, request), host, self.seconds)
        return read_answer(data, "Cannot deserialize policy validation response: ")

    def _evaluate(self, rego: Rego, settings: Json, request: Any, host: PolicyHost) -> PolicyAnswer:
        try:
            if self.mode is ExecutionMode.OPA:
                data = dict(settings)
                if host.resources:
                    data["kubernetes"] = host.reads.for_opa(host.resources)
                found = rego.evaluate({"request": request}, data, self.seconds)
                return read_opa(found)
            data = {}
            if host.resources:
                data["inventory"] = host.reads.for_gatekeeper(host.resources)
            document = {"parameters": settings, "review": request}
            return read_gatekeeper(rego.evaluate(document, data, self.seconds))
        except ReadError as error:
            message = f"cannot perform a request via callback channel: {error}"
            return failed(Fault(FaultKind.GUEST_ERROR, message))
        except Fault as fault:
            if not fault.said.startswith(INTERNAL):
                fault.said = INTERNAL + fault.said
            raise


def _refused(message: str) -> Fault:
    return Fault(FaultKind.WRONG_ABI, message, INTERNAL + message)


class OpenPolicy:
    """A started guest of mode kubewarden-wapc."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def check_settings(self, settings: Json) -> SettingsAnswer:
        """What the policy says to its settings, faults included."""
        try:
            data = self._session.call("validate_settings", jsontext.dumps(settings).encode())
        except Fault as fault:
            message = (
                "Error invoking settings validation callback: "
                f"GuestCallFailure({rust.debug(fault.said)})"
            )
            return SettingsAnswer(False, message, fault)
        return read_settings_answer(data, "error: ")

    def validate(self, settings: Json, request: Any) -> PolicyAnswer:
        """What the policy says to a request, faults included."""
        try:
            data = self._session.call("validate", _payload(settings, request))
        except Fault as fault:
            fault.said = _CALL_FAILED + fault.said
            return failed(fault)
        return read_answer(data, "invalid response from policy: ")


def _payload(settings: Json, request: Any) -> bytes:
    return f'{{"request":{jsontext.dumps(request)},"settings":{jsontext.dumps(settings)}}}'.encode()
