"""Kubernetes' own policies: MutatingAdmissionPolicy and ValidatingAdmissionPolicy.

`spec` reads policies and bindings, `validation` says what an API server would refuse them for,
`invocations` finds which of them are asked about a request and with which params, `mutating` and
`validating` are the two plugins, `patching` is what a mutation does to an object.
"""

from krm_fn.dialects.policies.dialect import DIALECT

__all__ = ["DIALECT"]
