"""Answers that were recorded, for what a render cannot know: registries, DNS, access reviews.

A file of them is YAML or JSON: this project's list of `{path, request, response | text | error}`,
or the session that `kwctl run --record-host-capabilities-interactions` writes. Answers are found by
content, any number of times (kwctl replays its own by position).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from krm_fn import limits
from krm_fn.dialects.kubewarden.codec import jsontext, yamltext
from krm_fn.dialects.kubewarden.codec.yamltext import YamlTextError
from krm_fn.dialects.kubewarden.host.requests import OPERATIONS, Asked, read_recorded
from krm_fn.errors import ConfigError
from krm_fn.values import Json


class Answers:
    """Recorded answers: a text, or the text of an error."""

    def __init__(self, known: Iterable[tuple[Asked, str | None, str]] = ()) -> None:
        self._known = {
            (asked.name, _key(asked.members)): (answer, error) for asked, answer, error in known
        }

    def find(self, asked: Asked) -> tuple[str | None, str] | None:
        """(answer, error), the answer None for an error; None where nothing is recorded."""
        return self._known.get((asked.name, _key(asked.members)))


def _key(members: Any) -> str:
    """Members in one spelling; what is null might as well be missing."""
    return jsontext.dumps(_without_nulls(members))


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _without_nulls(v) for k, v in value.items() if v is not None}
    if type(value) is list:
        return [_without_nulls(member) for member in value]
    return value


def read_answers(data: bytes, where: str) -> Answers:
    """The answers in a file. Raises ConfigError."""
    if len(data) > limits.WASM_RESPONSE:
        raise ConfigError(f"larger than {limits.WASM_RESPONSE // 2**20} MiB", where)
    try:
        entries = yamltext.loads(data.decode())
    except (YamlTextError, UnicodeDecodeError) as error:
        raise ConfigError(str(error), where) from None
    if type(entries) is not list:
        raise ConfigError("must be a list of recorded answers", where)
    known = []
    for n, entry in enumerate(entries):
        try:
            known.append(_entry(entry))
        except jsontext.JsonError as error:
            raise ConfigError(f"[{n}]: {error}", where) from None
    return Answers(known)


def _entry(entry: Any) -> tuple[Asked, str | None, str]:
    if type(entry) is not dict:
        raise jsontext.JsonError("is no map")
    request = entry.get("request")
    if type(request) is str and "path" not in entry:
        return _exchange(entry, request)
    asked = _by_path(str(entry["path"]), request) if "path" in entry else read_recorded(request)
    if "error" in entry:
        return asked, None, jsontext.text(entry["error"])
    if "text" in entry:
        return asked, jsontext.text(entry["text"]), ""
    if "response" not in entry:
        raise jsontext.JsonError("has none of response, text, error")
    return asked, jsontext.dumps(jsontext.value(entry["response"])), ""


def _by_path(path: str, request: Any) -> Asked:
    namespace, _, operation = path.partition("/")
    read = OPERATIONS.get(namespace, {}).get(operation)
    if read is None:
        known = [f"{space}/{name}" for space, names in OPERATIONS.items() for name in names]
        raise jsontext.JsonError(f"path {path} is none of {', '.join(known)}")
    return read(request)


_TAG: Final = "!"


def _exchange(entry: Json, request: str) -> tuple[Asked, str | None, str]:
    """kwctl's: the request is YAML text with a tag, the response is Success or Error."""
    first, _, rest = request.strip().partition("\n")
    if not first.startswith(_TAG):
        raise jsontext.JsonError("request does not start with a tag such as !KubernetesGetResource")
    try:
        members = yamltext.loads(rest)
    except YamlTextError as error:
        raise jsontext.JsonError(f"request: {error}") from None
    if type(members) is not dict:
        raise jsontext.JsonError("request has no members")
    asked = Asked(first[1:].strip(), members)
    response = entry.get("response")
    response = response if type(response) is dict else {}
    if response.get("type") == "Error":
        return asked, None, str(response.get("message", ""))
    payload = response.get("payload")
    if type(payload) is not str:
        raise jsontext.JsonError("response has no payload (type: Success) and is no Error")
    return asked, payload, ""
