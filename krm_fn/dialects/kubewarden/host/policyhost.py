"""The host that policies call: who may ask what, and where answers come from.

The order of the checks is the policy server's: binding, capability, namespace, operation, payload,
resource. A refusal is an error for the guest to deal with, and is noted, since guests rewrap it.
Source: policy-evaluator runtimes/callback.rs, host_capabilities.rs; vectors' README, 36 to 43.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from krm_fn.dialects.kubewarden.codec import jsontext
from krm_fn.dialects.kubewarden.host import certificates
from krm_fn.dialects.kubewarden.host.answers import Answers
from krm_fn.dialects.kubewarden.host.reads import ReadError, Reads
from krm_fn.dialects.kubewarden.host.requests import OPERATIONS, READS, Asked
from krm_fn.dialects.kubewarden.runtime.wapc import HostError

_BINDING: Final = "kubewarden"
_ANY: Final = "*"
_FAILED: Final = "Callback evaluation failure: "


class PatternError(Exception):
    """A pattern of host capabilities that means nothing."""


class Capabilities:
    """What a policy may ask its host: `*`, `oci/*`, `oci/v2/*`, or exact paths.

    Raises PatternError.
    """

    def __init__(self, patterns: Sequence[str]) -> None:
        self._everything = _ANY in patterns
        if not self._everything:
            for pattern in patterns:
                _check(pattern)
        self._exact = frozenset(pattern for pattern in patterns if _ANY not in pattern)
        self._below = tuple(pattern[:-1] for pattern in patterns if pattern.endswith("/*"))

    def grants(self, path: str) -> bool:
        return self._everything or path in self._exact or path.startswith(self._below)


def _check(pattern: str) -> None:
    if _ANY in pattern and (not pattern.endswith("/*") or pattern.count(_ANY) > 1):
        raise PatternError(
            f"invalid pattern \"{pattern}\": wildcard '*' must be the entire last path segment "
            "(e.g. 'oci/*'), not a partial match"
        )
    paths = [f"{space}/{name}" for space, names in OPERATIONS.items() for name in names]
    below = pattern.removesuffix(_ANY)
    if pattern not in paths and not (pattern.endswith("/*") and _any_below(below, paths)):
        raise PatternError(
            f'invalid pattern "{pattern}": it names no host capability; known are '
            f"{', '.join(sorted(paths))}, and * in place of the last parts"
        )


def _any_below(prefix: str, paths: Sequence[str]) -> bool:
    return any(path.startswith(prefix) for path in paths)


class PolicyHost:
    """The host of one policy.

    `refused` are the requests that no render can answer, `log` what the policy traced; both grow
    with each call until somebody takes them.
    """

    def __init__(
        self,
        reads: Reads,
        answers: Answers,
        capabilities: Capabilities,
        resources: Iterable[tuple[str, str]] = (),
    ) -> None:
        self.reads = reads
        self.resources = tuple(sorted(set(resources)))
        self._answers = answers
        self._capabilities = capabilities
        self.refused: list[str] = []
        self.log: list[str] = []

    def call(self, binding: str, namespace: str, operation: str, payload: bytes) -> bytes:
        """The answer to a guest. Raises HostError with the text that the guest gets."""
        if binding != _BINDING:
            raise HostError(f"unknown binding: {binding}")
        path = f"{namespace}/{operation}"
        if path == "tracing/log":
            self._trace(payload)
            return b""
        if namespace != "tracing" and not self._capabilities.grants(path):
            raise HostError(
                f"Policy has not been granted access to the '{path}' host capability. The "
                "violation has been reported."
            )
        operations = OPERATIONS.get(namespace)
        if operations is None and namespace != "tracing":
            raise HostError(f"unknown namespace: {namespace}")
        read = (operations or {}).get(operation)
        if read is None:
            raise HostError(f"unknown operation: {operation}")
        try:
            asked = read(jsontext.loads(payload))
        except jsontext.JsonError as error:
            raise HostError(str(error)) from None
        if operation in READS:
            wanted = (asked.members["api_version"], asked.members["kind"])
            if wanted not in self.resources:
                raise HostError(
                    f"Policy has not been granted access to Kubernetes {wanted[0]}/{wanted[1]} "
                    "resources. The violation has been reported."
                )
        return self._answer(path, asked).encode()

    def _answer(self, path: str, asked: Asked) -> str:
        recorded = self._answers.find(asked)
        if recorded is not None:
            answer, error = recorded
            if answer is None:
                raise HostError(_FAILED + error)
            return answer
        try:
            match asked.name:
                case "KubernetesGetResource":
                    return self.reads.get(asked.members)
                case "KubernetesListResourceAll":
                    return self.reads.listing(asked.members, None)
                case "KubernetesListResourceNamespace":
                    return self.reads.listing(asked.members, asked.members["namespace"])
                case "CryptoIsCertificateTrusted":
                    certificates.check(asked.members)
        except (ReadError, certificates.CertificateError) as error:
            raise HostError(_FAILED + str(error)) from None
        what = f"{path} {jsontext.dumps(_brief(asked))}"
        self.refused.append(what)
        raise HostError(
            f"{_FAILED}{path} needs the network or a cluster, which a render has not; record the "
            "answer in kubewarden.answers"
        )

    def _trace(self, payload: bytes) -> None:
        try:
            event = jsontext.loads(payload)
            if isinstance(event, dict):
                self.log.append(jsontext.dumps(jsontext.value(event)))
        except jsontext.JsonError:
            return


def _brief(asked: Asked) -> dict[str, object]:
    return {key: value for key, value in asked.members.items() if value is not None}
