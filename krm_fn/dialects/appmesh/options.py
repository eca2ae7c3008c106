"""The section `appMesh` of the configuration."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from krm_fn.config.fields import Section


class DefaultPatch(StrEnum):
    """What stands in for the ConfigMap that a Mesh without a reference to one means."""

    NONE = "None"
    BUILTIN = "Builtin"


class OnDuplicate(StrEnum):
    """What is done with a Pod that has containers of the patch already.

    Under SKIP one that has all of them stays as it is, and one that has some is refused.
    """

    SKIP = "Skip"
    ERROR = "Error"
    APPEND = "Append"


@dataclass(frozen=True, slots=True)
class AppMeshOptions:
    """All of it, with the defaults."""

    supergloo_namespace: str = ""
    """"" is that of the Deployment `supergloo`, else `supergloo-system`."""
    extra_regions: tuple[str, ...] = ()
    default_patch: DefaultPatch = DefaultPatch.NONE
    on_duplicate: OnDuplicate = OnDuplicate.SKIP


def read_options(section: Section) -> AppMeshOptions:
    """The options that the section gives. Raises ConfigError."""
    usual = AppMeshOptions()
    return AppMeshOptions(
        section.string("superglooNamespace"),
        section.strings("extraRegions"),
        section.choice("defaultPatch", usual.default_patch),
        section.choice("onDuplicate", usual.on_duplicate),
    )
