"""What all property tests share: how long an example takes on a busy machine is no finding."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

settings.register_profile("repository", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("repository")
