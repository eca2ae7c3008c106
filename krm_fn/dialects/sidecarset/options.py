"""The section `sidecarSets` of the configuration."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from krm_fn.config.fields import Section
from krm_fn.kube.served.times import TimeError, time


class SetValidation(StrEnum):
    """What becomes of a set that Kruise's validating webhook refuses."""

    OFF = "Off"
    WARN = "Warn"
    FAIL = "Fail"


class Inject(StrEnum):
    ALL = "All"
    METADATA_ONLY = "MetadataOnly"


class Bookkeeping(StrEnum):
    """Which of the annotations for Kruise's controllers are written."""

    NONE = "None"
    LIST = "List"
    FULL = "Full"


class Revision(StrEnum):
    """Which version of a set injects where a cluster would know better, or throw dice."""

    AS_CLUSTER = ""
    LATEST = "Latest"
    REVISION = "Revision"


@dataclass(frozen=True, slots=True)
class SidecarSetOptions:
    """All of it, with the defaults."""

    validation: SetValidation = SetValidation.WARN
    inject: Inject = Inject.ALL
    bookkeeping: Bookkeeping = Bookkeeping.NONE
    timestamp: str = ""
    """What `bookkeeping: Full` writes as the time of injection, as RFC 3339 in UTC."""
    metadata_gate: bool = False
    """Kruise's gate SidecarSetPatchPodMetadataDefaultsAllowed."""
    sort_by_name: bool = False
    """Kruise's gate EnableSortSidecarContainerByName."""
    revision: Revision = Revision.AS_CLUSTER


def read_options(section: Section) -> SidecarSetOptions:
    """The options that the section gives. Raises ConfigError."""
    usual = SidecarSetOptions()
    options = SidecarSetOptions(
        section.choice("validation", usual.validation),
        section.choice("inject", usual.inject),
        section.choice("bookkeeping", usual.bookkeeping),
        section.string("timestamp"),
        section.boolean("metadataGate", usual.metadata_gate),
        section.boolean("sortByName", usual.sort_by_name),
        section.choice("revision", usual.revision),
    )
    if options.bookkeeping is Bookkeeping.FULL and not options.timestamp:
        raise section.error("timestamp", " is required with bookkeeping: Full")
    if options.timestamp:
        try:
            time(options.timestamp)
        except TimeError:
            message = f": {options.timestamp!r} is no time such as 2026-01-31T12:00:00Z"
            raise section.error("timestamp", message) from None
    return options
