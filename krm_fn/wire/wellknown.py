"""The annotations by which the tools around a function tell where an object comes from.

Each is first under the name that tools write today, then under the one that they wrote before.
Source: kustomize kyaml/kio/kioutil; the functions specification of kustomize and kpt.
"""

from __future__ import annotations

from typing import Final

INTERNAL: Final = ("internal.config.kubernetes.io/", "internal.config.k8s.io/")
"""What the names of annotations start with that are for tools alone."""

PATH: Final = (f"{INTERNAL[0]}path", "config.kubernetes.io/path")
INDEX: Final = (f"{INTERNAL[0]}index", "config.kubernetes.io/index")
ID: Final = (f"{INTERNAL[0]}id", "config.k8s.io/id")
ORIGIN: Final = "config.kubernetes.io/origin"
"""Where kustomize got an object from: YAML with path, repo, ref."""

LOCAL_CONFIG: Final = "config.kubernetes.io/local-config"
"""`true` on what is for tools and never applied."""
