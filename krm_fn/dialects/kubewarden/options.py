"""The section `kubewarden` of the configuration."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Final

from krm_fn import limits
from krm_fn.config.fields import Section
from krm_fn.errors import ConfigError
from krm_fn.system.paths import WORKING_DIRECTORY, Base, expand_path

_MIB: Final = 1024 * 1024


@dataclass(frozen=True, slots=True)
class KubewardenOptions:
    """What a run allows policies, and where their modules are."""

    lock: str = ""
    """"" is the lock beside the rule that names a module."""
    store: str = ""
    """"" is the store beside the lock."""
    cache: str = ""
    """Compiled modules are kept here; "" keeps none."""
    answers: str = ""
    allow_capabilities: tuple[str, ...] = ()
    """What namespaced policies may ask their host; those for the cluster may ask everything."""
    fuel: int = limits.WASM_FUEL
    memory: int = limits.WASM_MEMORY
    """Bytes."""
    verification_config: str = ""
    """Which signatures modules must have, as a policy server's file of that name; "" is none."""


def read_options(section: Section, base: Base = WORKING_DIRECTORY) -> KubewardenOptions:
    """The options that the section gives. `base` is where its relative paths start.

    Raises ConfigError.
    """
    usual = KubewardenOptions()
    return KubewardenOptions(
        _inside(section.string("lock"), section.path("lock"), base),
        _inside(section.string("store"), section.path("store"), base),
        _cache(section.string("cache"), section.path("cache"), base),
        _inside(section.string("answers"), section.path("answers"), base),
        section.strings("allowCapabilities"),
        _at_least_one(section, "fuel", usual.fuel),
        _at_least_one(section, "memory", usual.memory // _MIB) * _MIB,
        _inside(section.string("verificationConfig"), section.path("verificationConfig"), base),
    )


def _at_least_one(section: Section, name: str, usual: int) -> int:
    number = section.integer(name, usual)
    if number < 1 or number >= 2**63:
        raise section.error(name, f" is {number}; it must be a positive number of 64 bits")
    return number


def _inside(path: str, where: str, base: Base) -> str:
    """A path below the file that names it, or of the package; "" is none."""
    return expand_path(path, where, base) if path else ""


def _cache(path: str, where: str, base: Base) -> str:
    """A path as above, or a directory that somebody made for this and nobody else can read.

    A functionConfig comes with a package and cannot make directories elsewhere.
    """
    if not path or not os.path.isabs(path):
        return _inside(path, where, base)
    if not os.path.isdir(path):
        raise ConfigError(f"{where}: {path} does not exist; make it with: mkdir -m 700 {path}")
    return path
