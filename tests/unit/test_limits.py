"""The recursion limit, which all threads of a process share."""

from __future__ import annotations

import sys

from krm_fn import limits


def test_a_block_that_ends_leaves_the_stack_deep_for_those_that_go_on() -> None:
    before = sys.getrecursionlimit()
    first, second = limits.deep_stack(), limits.deep_stack()
    first.__enter__()
    second.__enter__()
    deep = sys.getrecursionlimit()
    first.__exit__(None, None, None)
    assert sys.getrecursionlimit() == deep > before
    second.__exit__(None, None, None)
    assert sys.getrecursionlimit() == before
