"""The releases of Go that programs are built with, where its library changed between them."""

from __future__ import annotations

from enum import IntEnum


class Release(IntEnum):
    """A release of Go 1; a later one is greater."""

    GO_1_18 = 18
    """KubeMod, SuperGloo's templates."""
    GO_1_26 = 26
    """Kubernetes 1.37, OpenKruise."""
