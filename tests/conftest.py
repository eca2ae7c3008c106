"""What all tests share: property tests without a clock, and tools that a machine may lack."""

from __future__ import annotations

import os
import shutil
import sys

import pytest
from hypothesis import HealthCheck, settings

# How long an example takes on a busy machine is no finding.
settings.register_profile("repository", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("repository")

COLLECTED = pytest.StashKey[frozenset[str]]()

REQUIRED = [name for name in os.environ.get("KRM_FN_REQUIRE", "").split(",") if name]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A test marked `needs(tool)` skips where the tool is missing, and fails where CI names it."""
    for item in items:
        for tool in _missing(item):
            if tool not in REQUIRED:
                item.add_marker(pytest.mark.skip(reason=f"{tool} is not on PATH"))


def pytest_collection_finish(session: pytest.Session) -> None:
    session.config.stash[COLLECTED] = frozenset(sys.modules)


@pytest.fixture
def collected(pytestconfig: pytest.Config) -> frozenset[str]:
    """The modules that were imported once the tests had been collected."""
    return pytestconfig.stash[COLLECTED]


def pytest_runtest_setup(item: pytest.Item) -> None:
    for tool in _missing(item):
        pytest.fail(f"{tool} is named in KRM_FN_REQUIRE and is not on PATH")


def _missing(item: pytest.Item) -> list[str]:
    tools = (tool for mark in item.iter_markers("needs") for tool in mark.args)
    return [tool for tool in tools if shutil.which(tool) is None]
