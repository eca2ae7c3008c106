"""Structured merge: an apply configuration put into a live object as its schema says.

`atoms` is what schemas say of merging, from the table of built-in kinds and from definitions of
custom ones; `check` is what a patch, or a live object, may be refused for; `join` merges. None of
them knows who applies, and nobody owns a field.
Source: sigs.k8s.io/structured-merge-diff v6.4, package typed; k8s.io/kube-openapi pkg/schemaconv.
"""

from krm_fn.kube.merge.apply import MergeError, apply_configuration
from krm_fn.kube.merge.atoms import DEDUCED, Atom, of_custom, of_struct

__all__ = ["DEDUCED", "Atom", "MergeError", "apply_configuration", "of_custom", "of_struct"]
