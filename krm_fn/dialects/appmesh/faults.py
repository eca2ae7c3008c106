"""How the injector says that SuperGloo refuses a Pod, in SuperGloo's words.

Source: SuperGloo v0.3.22, the webhook and its plugin; the App Mesh specification, B3.7.
"""

from __future__ import annotations

from typing import Final

from krm_fn.admission import RuleRef

READ_POD: Final = "supergloo: failed to deserialize raw pod resource: "
_CREATE: Final = "supergloo: failed to create sidecar patch: "
LIST_MESHES: Final = (
    f"{_CREATE}failed to list auto-injection enabled meshes for plugin AppMeshInjectionPlugin: "
    "converting output crd: reading crd spec into v1Mesh: "
)
CHECK_POD: Final = (
    f"{_CREATE}failed to check whether candidate pod matches auto-injection criteria for meshes in "
    "plugin AppMeshInjectionPlugin: "
)
PATCH: Final = f"{_CREATE}failed to create sidecar patch in plugin AppMeshInjectionPlugin: "
DATA: Final = f"{PATCH}failed to retrieve data for patch template rendering: "
INJECT: Final = f"{PATCH}failed to inject sidecar: "
RENDER: Final = f"{INJECT}failed to render sidecar patch template: "


class MeshRefusedError(Exception):
    """The webhook does not answer with a patch.

    Its text is `message`, which is SuperGloo's own, and behind a semicolon `hint`: what to do about
    it, if there is something. `rules` are the Meshes that it is about. `crashes` marks what makes
    the webhook break off: a cluster then takes the Pod unpatched, since its registration says
    failurePolicy Ignore.
    """

    def __init__(
        self, message: str, rules: tuple[RuleRef, ...] = (), hint: str = "", crashes: bool = False
    ) -> None:
        super().__init__(message)
        self.message = message
        self.rules = rules
        self.hint = hint
        self.crashes = crashes

    def __str__(self) -> str:
        return f"{self.message}; {self.hint}" if self.hint else self.message
