"""Labels, annotations and names with a meaning to Kubernetes, which several places ask for.

Source: the Kubernetes documentation, "Well-Known Labels, Annotations and Taints".
"""

from __future__ import annotations

from typing import Final

DEFAULT_NAMESPACE: Final = "default"

METADATA_NAME: Final = "kubernetes.io/metadata.name"
"""The label of each namespace that is its name."""

LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"
"""What `kubectl apply` was given last."""

JOB_NAME: Final = ("job-name", "batch.kubernetes.io/job-name")
"""The labels of a Job's Pods that are its name, the older one first."""

NOT_READY: Final = "node.kubernetes.io/not-ready"
"""The taint of a node that is not ready."""
