"""JSON merge patch on texts, byte for byte as evanphx/json-patch v5.6.0 does it.

The library opens only what it must: an object that a patch went into comes back with sorted keys,
one that it did not keeps its order, and numbers and texts keep their spelling. This module knows
texts; it does not know what they are the values of.
Source: evanphx/json-patch v5.6.0 merge.go; RFC 7396.
"""

from __future__ import annotations

from krm_fn import limits
from krm_fn.errors import EvaluationError
from krm_fn.lang.go.json.encode import write
from krm_fn.lang.go.json.scanner import Members, Node, NotJsonError, parse, string

_NULL = "null"


def merge_patch(document: str, patch: str) -> str:
    """The text of `document` after `patch`.

    Raises EvaluationError with the library's text, and LimitError for what nests too deeply.
    """
    doc = _parsed(document, "Invalid JSON Document")
    change = _parsed(patch, "Invalid JSON Patch")
    if doc == _NULL:
        raise EvaluationError("Invalid JSON Document")
    if type(change) is str:
        raise EvaluationError("Invalid JSON Patch")
    with limits.deep_stack():
        if type(change) is list:
            return write(_pruned(change))
        if type(doc) is not Members:
            return write(_pruned(change))
        return write(_merged(doc, change))


def same_json(a: str, b: str) -> bool:
    """Whether two strings are the same JSON; numbers are compared as they are spelled."""
    try:
        nodes = parse(a), parse(b)
    except NotJsonError:
        return False
    with limits.deep_stack():
        return bool(_meaning(nodes[0]) == _meaning(nodes[1]))


def _parsed(text: str, complaint: str) -> Node:
    try:
        return parse(text)
    except NotJsonError:
        raise EvaluationError(complaint) from None


def _merged(doc: Members, patch: Members) -> dict[str, Node]:
    result = dict(doc.pairs)
    for key, change in dict(patch.pairs).items():
        if change == _NULL:
            result.pop(key, None)
            continue
        current = result.get(key, _NULL)
        if type(current) is not Members:
            result[key] = _pruned(change)
        elif type(change) is not Members:
            result[key] = change
        else:
            result[key] = _merged(current, change)
    return result


def _pruned(node: Node) -> Node:
    """A value without the null members of its objects; null elements of lists stay."""
    if type(node) is Members:
        members = dict(node.pairs)
        return {key: _pruned(member) for key, member in members.items() if member != _NULL}
    if type(node) is list:
        return [_pruned(element) for element in node]
    return node


def _meaning(node: Node) -> object:
    if type(node) is Members:
        return {key: _meaning(member) for key, member in node.pairs}
    if type(node) is list:
        return [_meaning(element) for element in node]
    return (string(node),) if node.startswith('"') else node
