"""What to do about errors that many meet, among them users of the documentation's own examples."""

from __future__ import annotations

import re
from typing import Final

from krm_fn.admission import Finding

_HINTS: Final = (
    (
        re.compile(r"resulted in error: no such key: (\w+)"),
        "reading a field that is not set is an error; write .?{0}.orValue(...) with the value that "
        "a missing one stands for, such as object.spec.?initContainers.orValue([])",
    ),
    (
        re.compile(r"may not mutate atomic arrays, maps or structs"),
        "ApplyConfiguration cannot set these at all; set them with a JSONPatch mutation, or leave "
        "them out",
    ),
    (
        re.compile(r'add operation does not apply: doc is missing path: "(.*)/-"'),
        "there is no list to add to; add an empty one first, in the same patch: "
        'JSONPatch{{op: "add", path: "{0}", value: []}}',
    ),
    (
        re.compile(r'add operation does not apply: doc is missing path: "(.*)/[^/]*"'),
        "{0} is not set; where it is missing, add it first, in the same patch: "
        'JSONPatch{{op: "add", path: "{0}", value: {{}}}}',
    ),
    (
        re.compile(r"strict decoding error: unknown field"),
        "a JSONPatch may set only fields that the kind has; failurePolicy does not cover this",
    ),
    (
        re.compile(r"expected type '\w+' but found '\w+'"),
        "elements of a literal must have one type; use Object types, or dyn(...) around each",
    ),
    (
        re.compile(r"must evaluate to Object but got|must evaluate to list\(JSONPatch\) but got"),
        "the type is that of the text, not of the value; write the result out in the mutation",
    ),
    (
        re.compile(r"Resource kind .* not found"),
        "add its CustomResourceDefinition to the items or to context.objects, or set "
        "policies.unknownKind: Deduce",
    ),
    (
        re.compile(r"failed to find resource referenced by paramKind"),
        "add its CustomResourceDefinition and the params to the items or to context.objects",
    ),
    (
        re.compile(r"no params found for policy binding"),
        "add the params to the items or to context.objects",
    ),
    (
        re.compile(r"could not marshal to JSON: type conversion error from '(?:map|list)"),
        "once a policy has matchConditions, live maps and lists cannot be values of a JSONPatch; "
        "rebuild a map with transformMap, or use ApplyConfiguration",
    ),
)


def hint_for(message: str) -> str:
    """What to do about an error, "" where nobody knows."""
    for pattern, hint in _HINTS:
        found = pattern.search(message)
        if found:
            return hint.format(*found.groups())
    return ""


def hinted(finding: Finding) -> Finding:
    """A finding with what to do about it."""
    hint = hint_for(finding.message)
    return finding._replace(message=f"{finding.message}; hint: {hint}") if hint else finding
