"""The section `admissionPlugins`: which plugins are on, and their configuration files.

Names and defaults are kube-apiserver's, fields those of the files that its flag
--admission-control-config-file names.
Source: docs/spec/builtin-admission.md sections (c) and (d).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from krm_fn.config.fields import Section
from krm_fn.dialects.builtin.order import NAMES, Part
from krm_fn.dialects.builtin.podsecurity.policy import MODES, parse_level, parse_version
from krm_fn.dialects.builtin.tolerations import Toleration
from krm_fn.errors import did_you_mean
from krm_fn.values import Json

ALL: Final = "*"


class BuiltInOptions(NamedTuple):
    """The plugins that are enabled, and what their configuration files say, by plugin."""

    enabled: frozenset[str]
    configurations: Mapping[str, Json] = {}
    left_out: tuple[str, ...] = ()
    """Plugins that were asked for and are no part of a render."""


def read_options(section: Section) -> BuiltInOptions:
    """The options of a section. Raises ConfigError."""
    enable = _names(section, "enable")
    disable = _names(section, "disable", all_allowed=True)
    for name in enable:
        if name in disable:
            raise section.error("enable", f": {name} is disabled, too; name it once")
    defaults = (name for name, plugin in NAMES.items() if plugin.default)
    enabled = {name for name in defaults if name not in disable and ALL not in disable}
    files = section.section("config")
    configurations = {name: read(files.section(name)) for name, read in _FILES.items()}
    files.done()
    left_out = tuple(name for name in enable if NAMES[name].part is not Part.RENDERED)
    return BuiltInOptions(frozenset(enabled | set(enable)), configurations, left_out)


def _names(section: Section, field: str, *, all_allowed: bool = False) -> tuple[str, ...]:
    names = section.strings(field)
    for name in names:
        if name not in NAMES and not (all_allowed and name == ALL):
            hint = did_you_mean(name, list(NAMES))
            known = "; names are those of kube-apiserver's --enable-admission-plugins"
            raise section.error(field, f": {name!r} is no admission plugin{hint or known}")
    return names


# ----------------------------------------------------------------------------- configuration files


def _type_of_file(section: Section) -> None:
    """A file says what it is; here its place does."""
    section.string("apiVersion")
    section.string("kind")


def _pod_security(section: Section) -> Json:
    _type_of_file(section)
    defaults = section.section("defaults")
    found: Json = {}
    for mode in MODES:
        level = defaults.string(mode)
        if level and parse_level(level) is None:
            words = "privileged, baseline, restricted"
            raise defaults.error(mode, f": {level!r} must be one of {words}")
        version = defaults.string(f"{mode}-version")
        if version and parse_version(version) is None:
            message = f': {version!r} must be "latest" or "v1.x"'
            raise defaults.error(f"{mode}-version", message)
        found |= {mode: level} if level else {}
        found |= {f"{mode}-version": version} if version else {}
    defaults.done()
    exemptions = section.section("exemptions")
    names = ("usernames", "runtimeClasses", "namespaces")
    exempt = {name: exemptions.strings(name) for name in names}
    exemptions.done()
    section.done()
    return {"defaults": found, "exemptions": exempt}


def _resource_quota(section: Section) -> Json:
    _type_of_file(section)
    limited = []
    for entry in section.sections("limitedResources"):
        scopes = []
        for scope in entry.sections("matchScopes"):
            values = list(scope.strings("values"))
            named = {name: scope.string(name) for name in ("scopeName", "operator")}
            scope.done()
            scopes.append({**named, "values": values})
        found: Json = {name: entry.string(name) for name in ("apiGroup", "resource")}
        contains = list(entry.strings("matchContains"))
        entry.done()
        limited.append({**found, "matchContains": contains, "matchScopes": scopes})
    section.done()
    return {"limitedResources": limited}


_SELECTORS: Final = "podNodeSelectorPluginConfig"


def _pod_node_selector(section: Section) -> Json:
    selectors = section.labels(_SELECTORS)
    section.done()
    return {_SELECTORS: selectors}


def _pod_toleration_restriction(section: Section) -> Json:
    _type_of_file(section)
    found = {name: _tolerations(section, name) for name in ("default", "whitelist")}
    section.done()
    return found


def _tolerations(section: Section, name: str) -> list[Json]:
    found = []
    for one in section.sections(name):
        key, operator = one.string("key"), one.string("operator")
        value, effect = one.string("value"), one.string("effect")
        seconds = one.integer("tolerationSeconds", 0) if "tolerationSeconds" in one else None
        one.raw("tolerationSeconds")
        one.done()
        found.append(Toleration(key, operator, value, effect, seconds).written())
    return found


_FILES: Final[Mapping[str, Callable[[Section], Json]]] = {
    "PodSecurity": _pod_security,
    "ResourceQuota": _resource_quota,
    "PodNodeSelector": _pod_node_selector,
    "PodTolerationRestriction": _pod_toleration_restriction,
}
