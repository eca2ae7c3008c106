"""OpenKruise's SidecarSets, as OpenKruise v1.9.0 injects them.

`types` are a set's Go types with their defaults, `sets` decodes one, `validation` says what Kruise
would refuse, `matching` for which Pods it is, `revisions` in which version, `metadata` patches
annotations, `build` makes sidecars (with `sharing`, `resources` and `calculator`), `merge` puts
them into a Pod, `bookkeeping` writes what Kruise's controllers read, `plugin` is the webhook,
`dialect` puts these together.
"""

from krm_fn.dialects.sidecarset.dialect import DIALECT

__all__ = ["DIALECT"]
