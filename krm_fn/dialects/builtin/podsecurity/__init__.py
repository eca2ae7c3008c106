"""PodSecurity: Pods keep to the Pod Security Standards that the labels of their Namespace name.

`policy` reads the labels, `checks` looks at Pods, `registry` knows which checks a level has in a
version, `plugin` puts these together.
Source: k8s.io/pod-security-admission v0.36; docs/spec/builtin-admission.md section (b).
"""

from krm_fn.dialects.builtin.podsecurity.plugin import PodSecurity

__all__ = ["PodSecurity"]
