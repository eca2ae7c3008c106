"""Carry an edit of the shown object back to the manifest as it is written.

Rules see an object as the API server shows it, and change that. The manifest must then say just so
much more that the API server makes the very same object of it: an edit goes back as the leaf that
the rule wrote, what the rule did not touch keeps its spelling, and the result is proved by showing
it again. Where that differs, more is written, leaf by leaf and then subtree by subtree. This module
knows neither schema nor defaults: `show` is given to it.
Source: the served form's specification, section (h).
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

from krm_fn.values import MISSING, Json, Path, align, diff, equal, get, with_at

Show = Callable[[Json], Json]
"""What the API server makes of a manifest. Raises what it raises for one that it refuses."""


class WrittenBack(NamedTuple):
    """The manifest with the edit, what it shows as, and where that is not what the rule made."""

    written: Json
    shown: Json
    lost: tuple[Path, ...] = ()


def write_back(written: Json, shown: Json, admitted: Json, show: Show) -> WrittenBack:
    """`written` with the edit that turns `shown` into `admitted`.

    `shown` is `show(written)`. The result shows as `show(admitted)`, or `lost` says where not: what
    the API server makes of an admitted object counts, so that an edit that it would undo or drop is
    not written. Subtrees that no edit touches are the same Python objects as in `written`.
    Raises what `show` raises for `admitted`.
    """
    wanted = show(admitted)
    if equal(admitted, shown):
        return WrittenBack(written, shown)
    result = _edited(written, shown, admitted, wanted)
    if _is_secret(shown):
        result = _with_string_data(result, shown, wanted)
    result = _with_service_accounts(result, written, shown, wanted)
    return _widened(written if equal(result, written) else result, wanted, show)


# ------------------------------------------------------------------------ the edit, and no more


def _edited(written: Any, shown: Any, admitted: Any, wanted: Any) -> Any:
    """`written` with what differs between `shown` and `admitted`, as far as it is in `wanted`."""
    if admitted is shown or equal(admitted, shown):
        return written
    if type(shown) is dict and type(admitted) is dict and type(wanted) is dict:
        return _edited_map(written, shown, admitted, wanted)
    if _are_lists(written, shown, admitted, wanted):
        return _edited_list(written, shown, admitted, wanted)
    return written if equal(shown, wanted) else _as_the_rule_wrote(admitted, wanted)


def _edited_map(written: Any, shown: Json, admitted: Json, wanted: Json) -> Any:
    before: Json = written if type(written) is dict else {}
    result = dict(before)
    for key, old in shown.items():
        if key not in admitted:
            # Where there is a default, it shows again without a word.
            result.pop(key, None)
        elif equal(old, admitted[key]):
            continue
        elif key not in wanted:
            result.pop(key, None)
        else:
            new = _edited(result.get(key, MISSING), old, admitted[key], wanted[key])
            if key in result or not (new is MISSING or new == {}):
                result[key] = new
    for key, new in admitted.items():
        if key not in shown and key in wanted:
            result[key] = _as_the_rule_wrote(new, wanted[key])
    return written if equal(result, written) else result


def _are_lists(written: Any, shown: Any, admitted: Any, wanted: Any) -> bool:
    """Whether all are lists, of which elements at one position belong together."""
    return (
        type(written) is list
        and type(shown) is list
        and type(admitted) is list
        and type(wanted) is list
        and len(written) == len(shown)
        and len(admitted) == len(wanted)
    )


def _edited_list(
    written: list[Any], shown: list[Any], admitted: list[Any], wanted: list[Any]
) -> list[Any]:
    pairs = align(shown, admitted)
    removed = [i for i, j in pairs if i is not None and j is None]
    result = []
    for i, j in pairs:
        if j is None:
            continue
        if i is None:
            i = next((i for i in removed if equal(shown[i], admitted[j])), None)
            if i is not None:
                removed.remove(i)
        if i is None:
            result.append(_as_the_rule_wrote(admitted[j], wanted[j]))
        else:
            result.append(_edited(written[i], shown[i], admitted[j], wanted[j]))
    return result


def _as_the_rule_wrote(admitted: Any, wanted: Any) -> Any:
    """What a rule added, in its own spelling and before defaults, without what would be dropped."""
    if type(admitted) is dict and type(wanted) is dict:
        return {
            key: _as_the_rule_wrote(value, wanted[key])
            for key, value in admitted.items()
            if key in wanted
        }
    if type(admitted) is list and type(wanted) is list and len(admitted) == len(wanted):
        return [_as_the_rule_wrote(a, w) for a, w in zip(admitted, wanted, strict=True)]
    scalars = not isinstance(admitted, (dict, list)) and not isinstance(wanted, (dict, list))
    return admitted if scalars else wanted


# ------------------------------------------------------------------------------------------- proof


_ROUNDS: Final = 3
"""Leaves that one round writes may decide what other leaves show as; more rounds find no more."""


def _widened(result: Json, wanted: Json, show: Show) -> WrittenBack:
    """`result`, with as much more as it takes to show as `wanted`."""
    shows = show(result)
    for _ in range(_ROUNDS):
        if equal(shows, wanted):
            return WrittenBack(result, shows)
        wider = _edited(result, shows, wanted, wanted)
        if equal(wider, result):
            break
        result, shows = wider, show(wider)
    if equal(shows, wanted):
        return WrittenBack(result, shows)
    for wider in _with_subtrees(result, shows, wanted):
        shows_wider = show(wider)
        if equal(shows_wider, wanted):
            return WrittenBack(wider, shows_wider)
    return WrittenBack(result, shows, tuple(edit.path for edit in diff(shows, wanted)))


def _with_subtrees(result: Json, shows: Json, wanted: Json) -> Iterator[Json]:
    """`result` with ever larger subtrees of `wanted` around what differs."""
    paths = [edit.path for edit in diff(shows, wanted)]
    for up in range(max(map(len, paths))):
        wider = result
        for path in dict.fromkeys(path[: max(len(path) - up, 1)] for path in paths):
            at = _reachable(wider, path)
            wider = with_at(wider, at, get(wanted, at, MISSING))
        yield wider


def _reachable(value: Any, path: Path) -> Path:
    """The part of a path that can be set: up to the list that has no such element."""
    for n, step in enumerate(path):
        if isinstance(step, int) and (type(value) is not list or step >= len(value)):
            return path[:n]
        value = get(value, (step,), MISSING)
    return path


# ------------------------------------------------------------------- two fields that are one value


def _is_secret(value: Json) -> bool:
    return value.get("kind") == "Secret" and value.get("apiVersion") == "v1"


def _with_string_data(result: Json, shown: Json, wanted: Json) -> Json:
    """A Secret whose `stringData`, which is shown as `data` and wins over it, says what was set."""
    texts, data = result.get("stringData"), result.get("data")
    if type(texts) is not dict or not texts:
        return result
    texts, data = dict(texts), dict(data) if type(data) is dict else {}
    old, new = _map(shown.get("data")), _map(wanted.get("data"))
    for key in list(texts):
        if equal(old.get(key, MISSING), new.get(key, MISSING)):
            continue
        data.pop(key, None)
        text = _text(new[key]) if key in new else None
        if text is not None:
            texts[key] = text
        else:
            del texts[key]
            if key in new:
                data[key] = new[key]
    result = with_at(result, ("stringData",), texts or MISSING)
    had = result.get("data")
    if equal(data, had) or (not data and had is None):
        return result
    return with_at(result, ("data",), data or MISSING)  # type: ignore[no-any-return]


def _map(value: Any) -> Json:
    return value if type(value) is dict else {}


def _text(encoded: Any) -> str | None:
    """Base64 as text, or None where the bytes are none."""
    try:
        return base64.b64decode(encoded, validate=True).decode()
    except (TypeError, ValueError, binascii.Error):
        return None


_ACCOUNTS: Final = ("serviceAccountName", "serviceAccount")


def _with_service_accounts(result: Any, written: Any, shown: Any, wanted: Any) -> Any:
    """`serviceAccountName` and its deprecated twin show as one; the one that is written is set."""
    path = _account_path(wanted)
    before, spec = get(written, path), get(result, path)
    name = get(wanted, (*path, _ACCOUNTS[0]))
    if type(before) is not dict or type(spec) is not dict or not isinstance(name, str):
        return result
    if get(shown, (*path, _ACCOUNTS[0])) == name:
        return result
    had = [key for key in _ACCOUNTS if before.get(key)] or [_ACCOUNTS[0]]
    kept = {k: v for k, v in spec.items() if k not in _ACCOUNTS or k in had}
    return with_at(result, path, {**kept, **dict.fromkeys(had, name)})


def _account_path(value: Json) -> Path:
    """Where the one Pod specification of a built-in kind lies."""
    if value.get("kind") == "Pod":
        return ("spec",)
    if value.get("kind") == "PodTemplate":
        return ("template", "spec")
    if value.get("kind") == "CronJob":
        return ("spec", "jobTemplate", "spec", "template", "spec")
    return ("spec", "template", "spec")
