"""The section `kubewarden` of the configuration."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from krm_fn import limits
from krm_fn.config.fields import Section
from krm_fn.config.sources import expand_paths
from krm_fn.dialects.kubewarden.modules import LOCK, STORE
from krm_fn.errors import ConfigError

_MIB: Final = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Options:
    """What a run allows policies, and where their modules are."""

    lock: str = LOCK
    store: str = STORE
    cache: str = ""
    """Compiled modules are kept here; "" keeps none."""
    answers: str = ""
    allow_capabilities: tuple[str, ...] = ()
    """What namespaced policies may ask their host; those for the cluster may ask everything."""
    fuel: int = limits.WASM_FUEL
    memory: int = limits.WASM_MEMORY
    """Bytes."""


def read_options(section: Section | None) -> Options:
    """The section; the defaults without one. Raises ConfigError."""
    if section is None:
        return Options()
    usual = Options()
    options = Options(
        _inside(section.string("lock") or usual.lock, section.path("lock")),
        _inside(section.string("store") or usual.store, section.path("store")),
        _cache(section.string("cache"), section.path("cache")),
        _inside(section.string("answers"), section.path("answers")),
        section.strings("allowCapabilities"),
        _at_least_one(section, "fuel", usual.fuel),
        _at_least_one(section, "memory", usual.memory // _MIB) * _MIB,
    )
    section.done()
    return options


def _at_least_one(section: Section, name: str, usual: int) -> int:
    number = section.integer(name, usual)
    if number < 1 or number >= 2**63:
        raise section.error(name, f" is {number}; it must be a positive number of 64 bits")
    return number


def _inside(path: str, where: str) -> str:
    """A path of the package, as all that a functionConfig names."""
    found: Sequence[str] = list(expand_paths([path], where)) if path else ()
    return found[0] if found else ""


def _cache(path: str, where: str) -> str:
    """A path of the package, or a directory that somebody made for this and nobody else can read.

    A functionConfig comes with a package and cannot make directories elsewhere.
    """
    if not path or not os.path.isabs(path):
        return _inside(path, where)
    if not os.path.isdir(path):
        raise ConfigError(f"{where}: {path} does not exist; make it with: mkdir -m 700 {path}")
    return path
