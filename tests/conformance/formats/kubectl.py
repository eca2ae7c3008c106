"""What kubectl prints of a server's answers: vectors/builtin/README.md.

The texts are put together here from this project's findings as kubectl puts them together from
answers, so that code, reason, message, causes and warnings are those of the server.
"""

from __future__ import annotations

import re
from typing import Any

from formats import Verdict
from formats.builtin import Server, run
from krm_fn.values import Json


def check(case: dict[str, Any]) -> Verdict:
    server = Server(case)
    files = re.findall(r"-f (\S+)", case["command"])
    warnings: dict[str, None] = {}
    created: list[str] = []
    errors: list[str] = []
    for file, value in zip(files, case["objects"], strict=True):
        answer = run(server, {**case, "object": value, "operation": "CREATE"})
        warnings.update(dict.fromkeys(f"Warning: {text}\n" for text in answer["warnings"]))
        denied = answer.get("denied")
        if denied:
            errors.append(_error(file, value, denied, answer["early"]))
        else:
            created.append(f"{_resource(value)} created (server dry run)\n")
    actual = {
        "exit": 1 if errors else 0,
        "stdout": "".join(created),
        "stderr": "".join((*warnings, *errors)),
    }
    return Verdict.compare(case["expect"], actual)


def _resource(value: Json) -> str:
    group = value["apiVersion"].rpartition("/")[0]
    kind = value["kind"].lower()
    return f"{kind}.{group}/{_name(value)}" if group else f"{kind}/{_name(value)}"


def _name(value: Json) -> str:
    metadata = value["metadata"]
    return metadata["name"] if "name" in metadata else f"{metadata['generateName']}xxxxx"


def _error(file: str, value: Json, denied: dict[str, Any], early: bool) -> str:
    if denied["code"] == 422:
        causes = [f"{one['field']}: {one['message']}" for one in denied["causes"]]
        said = causes[0] if len(causes) == 1 else "".join(f"\n* {text}" for text in causes)
        return f'The {value["kind"]} "{_name(value)}" is invalid: {said}\n'
    reason = f" ({denied['reason']})" if denied["reason"] else ""
    # In the validating phase a name is generated.
    generated = value["metadata"].get("generateName", "") if "name" not in value["metadata"] else ""
    message = denied["message"]
    if generated and not early:
        message = message.replace(f'"{generated}"', f'"{_name(value)}"')
    return f'Error from server{reason}: error when creating "{file}": {message}\n'
