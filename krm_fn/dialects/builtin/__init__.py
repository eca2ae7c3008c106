"""kube-apiserver's own admission plugins: what the server does to objects besides all rules.

A plugin is a module with one class; `order` has their names, `catalog` makes those that are
enabled, `listers` is what they know of the cluster. `podsecurity` and `quota` are rooms of their
own.
Source: k8s.io/kubernetes plugin/pkg/admission, of 1.36; docs/spec/builtin-admission.md.
"""
