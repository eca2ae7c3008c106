"""kube-apiserver's own admission plugins: what the server does to objects besides all rules.

A plugin is a module with one class; `order` has their names, `catalog` makes those that are
enabled, `listers` is what they know of the cluster. `podsecurity` and `quota` are rooms of their
own.
`options` reads the section `admissionPlugins`, `dialect` hands the plugins to the chain.
Source: k8s.io/kubernetes plugin/pkg/admission, of 1.36; docs/spec/builtin-admission.md.
"""

from krm_fn.dialects.builtin.dialect import DIALECT

__all__ = ["DIALECT"]
