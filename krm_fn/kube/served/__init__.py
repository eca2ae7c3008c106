"""The form in which the API server shows an object to admission: typed, with defaults.

Bytes of a manifest become a Go type, get the defaults of their version and are converted to the
internal type and back before any rule sees them. `Served` does that to an object as it is written;
applied to what a rule made of it, it is what the API server does after each mutation.
Source: the served form's specification; vectors in tests/conformance/served.
"""

from __future__ import annotations

from krm_fn.kube.served.serve import Form, Served

__all__ = ["Form", "Served"]
