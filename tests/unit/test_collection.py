"""Collecting the tests loads no library that only some need: each worker would wait for it."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize("library", ["wasmtime", "cryptography"])
def test_collecting_the_tests_does_not_import(library: str, collected: frozenset[str]) -> None:
    assert library not in collected
