"""What Kruise's validating webhook says of a SidecarSet.

A webhook is asked when a set is written, never when a Pod is created. Each complaint is one text,
`field: what is wrong`, in the webhook's own words. Nothing here changes a set.
Source: OpenKruise v1.9.0 pkg/webhook/sidecarset/validating; the SidecarSet specification, A15.
"""

from __future__ import annotations

from krm_fn.dialects.sidecarset.validation.sets import problems

__all__ = ["problems"]
