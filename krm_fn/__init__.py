"""krm-fn: what admission does to manifests, before they reach a cluster."""

__version__ = "0.1.0"
