"""ResourceQuota: what a namespace may use in total.

`evaluators` tells what an object uses and which quotas are about it, by kind, `scopes` which Pods
and claims a quota is for, `ledger` what is used already, `plugin` compares.
Source: k8s.io/apiserver pkg/admission/plugin/resourcequota; docs/spec/builtin-admission.md (b).
"""

from krm_fn.dialects.builtin.quota.plugin import ResourceQuota

__all__ = ["ResourceQuota"]
