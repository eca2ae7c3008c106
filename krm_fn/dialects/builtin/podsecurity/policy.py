"""What the labels of a Namespace ask of its Pods: a level and a version for each mode.

Source: k8s.io/pod-security-admission api/helpers.go.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import IntEnum
from typing import Final, NamedTuple

from krm_fn.kube.selectors import Labels

PREFIX: Final = "pod-security.kubernetes.io/"

LATEST: Final = -1
"""The version that grows with the server, in the place of a minor version."""


class Level(IntEnum):
    """The levels of the Pod Security Standards, the stricter the higher."""

    PRIVILEGED = 0
    BASELINE = 1
    RESTRICTED = 2

    @property
    def text(self) -> str:
        return self.name.lower()


_LEVELS: Final = {level.text: level for level in Level}
_BAD_LEVEL: Final = f"must be one of {', '.join(_LEVELS)}"
_VERSION: Final = re.compile(r"v1\.(0|[1-9][0-9]*)", re.ASCII)
_BAD_VERSION: Final = 'must be "latest" or "v1.x"'
_MAX_INT: Final = 2**63 - 1


class LevelVersion(NamedTuple):
    """A level in a version: a minor one of Kubernetes, or LATEST."""

    level: Level = Level.PRIVILEGED
    minor: int = LATEST

    def __str__(self) -> str:
        version = "latest" if self.minor == LATEST else f"v1.{self.minor}"
        return f"{self.level.text}:{version}"


class Policy(NamedTuple):
    """What holds in a Namespace, by mode."""

    enforce: LevelVersion = LevelVersion()
    audit: LevelVersion = LevelVersion()
    warn: LevelVersion = LevelVersion()

    @property
    def is_privileged(self) -> bool:
        return all(mode.level is Level.PRIVILEGED for mode in self)

    def is_like(self, other: Policy) -> bool:
        """Whether both ask the same of Pods."""
        return all(
            one == two or one.level is two.level is Level.PRIVILEGED
            for one, two in zip(self, other, strict=True)
        )


PRIVILEGED: Final = Policy()
"""What holds without labels and configuration."""


class LabelError(NamedTuple):
    """A label with a value that is none, and why."""

    label: str
    value: str
    reason: str


MODES: Final = ("enforce", "audit", "warn")


def policy_of(labels: Labels, defaults: Policy) -> tuple[Policy, tuple[LabelError, ...]]:
    """The policy of labels, with what is wrong with them; `defaults` holds where there is none.

    A level that is none is `restricted` where it is enforced and `privileged` elsewhere; a version
    that is none is the latest. Without a level of its own, warn follows a stricter enforce.
    """
    modes: dict[str, LevelVersion] = {}
    errors: list[LabelError] = []
    for mode, default in zip(MODES, defaults, strict=True):
        level, minor = default
        label = PREFIX + mode
        text = labels.get(label)
        if text is not None:
            found = _LEVELS.get(text)
            if found is None:
                errors.append(LabelError(label, text, _BAD_LEVEL))
                found = Level.RESTRICTED if mode == "enforce" else Level.PRIVILEGED
            level = found
        label = f"{PREFIX}{mode}-version"
        text = labels.get(label)
        if text is not None:
            number = parse_version(text)
            if number is None:
                errors.append(LabelError(label, text, _BAD_VERSION))
                number = LATEST
            minor = number
        modes[mode] = LevelVersion(level, minor)
    policy = Policy(**modes)
    return policy._replace(warn=_warn(labels, policy)), tuple(errors)


def _warn(labels: Labels, policy: Policy) -> LevelVersion:
    enforce, warn = policy.enforce, policy.warn
    is_set = labels.get(PREFIX + "enforce") in _LEVELS
    if PREFIX + "warn" in labels or not is_set or enforce.level <= warn.level:
        return warn
    has_version = f"{PREFIX}warn-version" in labels
    return LevelVersion(enforce.level, warn.minor if has_version else enforce.minor)


def parse_version(text: str) -> int | None:
    """The minor version of `v1.N`, LATEST for `latest`, None for another text."""
    if text == "latest":
        return LATEST
    match = _VERSION.fullmatch(text)
    if match is None or len(match[1]) > _DIGITS or int(match[1]) > _MAX_INT:
        return None
    return int(match[1])


_DIGITS: Final = len(str(_MAX_INT))


def parse_level(text: str) -> Level | None:
    """A level by its name, None for another text."""
    return _LEVELS.get(text)


def configured(defaults: Mapping[str, str]) -> Policy:
    """The policy of a configuration's `defaults`, whose fields were checked."""
    modes = {}
    for mode in MODES:
        level = parse_level(defaults.get(mode, "privileged"))
        minor = parse_version(defaults.get(f"{mode}-version", "latest"))
        assert level is not None
        assert minor is not None
        modes[mode] = LevelVersion(level, minor)
    return Policy(**modes)
