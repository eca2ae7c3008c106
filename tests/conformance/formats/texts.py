"""Texts, and what Go's YAML readers make of them: the value as each decodes it, or an error.

go-yaml v3 is what kyaml (kpt, kustomize) reads with, sigs.k8s.io/yaml what kubectl, Helm and Argo
CD do. What the two take alike is read so here; words such as `yes` are texts as the former and
booleans as the latter reads; a text of which they take anything else differently, or that one of
them does not read, is refused. The exceptions are the conditions below, each with its reason.
"""

from __future__ import annotations

import json
import math
import re
import struct
from collections.abc import Callable
from typing import Any

import yaml
from yaml.cyaml import CParser

from formats import Verdict
from formats.numbers import same
from krm_fn.errors import KrmFnError
from krm_fn.wire.compose import compose
from krm_fn.wire.scalars import WORDS, key_text, resolve_sigs
from krm_fn.wire.words import KUBECTL, TEXTS, Reading, settled

ERROR = "ERR"


def _read(text: str, reading: Reading) -> Any:
    roots = compose(text.removeprefix("\ufeff")).roots
    return settled(roots[0].value, reading) if roots else None


class Differ(Exception):
    """The two readers take a text differently."""


def _fails(answer: Any) -> bool:
    return isinstance(answer, str) and answer.startswith(ERROR)


def _joined(v3: Any, sigs: Any) -> Any:
    """What kyaml reads, as JSON holds it: from the answers of both. Raises Differ.

    From go-yaml v3 come types and words, from sigs.k8s.io/yaml the texts of keys and dates.
    """
    if isinstance(v3, dict):
        if not isinstance(sigs, dict) or len(v3) != len(sigs):
            raise Differ
        keys = {_key(key, sigs): value for key, value in v3.items()}
        return {word: _joined(value, sigs[key]) for (word, key), value in keys.items()}
    if isinstance(v3, list):
        if not isinstance(sigs, list) or len(v3) != len(sigs):
            raise Differ
        return [_joined(a, b) for a, b in zip(v3, sigs, strict=True)]
    kind, _, text = v3.partition(":")
    value = _scalar(kind, text, sigs)
    if kind == "str" and text in WORDS and isinstance(sigs, bool):
        return text
    if not same(value, sigs):
        raise Differ
    return value


def _scalar(kind: str, text: str, sigs: Any) -> Any:
    match kind:
        case "null":
            return None
        case "bool":
            return text == "true"
        case "int":
            return int(text)
        case "float":
            return float(text)
        case "time.Time":
            return sigs if isinstance(sigs, str) else ERROR
    return text


def _key(key: str, sigs: dict[str, Any]) -> tuple[str, str]:
    """(the key as kyaml has it, the key that it is to kubectl); v3 answers `1:int` for 1."""
    name, _, kind = key.rpartition(":")
    if kind in ("int", "bool") and name in sigs:
        return name, name
    if kind == "float64":
        for other in sigs:
            if re.fullmatch(r"[-+.0-9eE]+|-?\.inf|\.nan", other) and _single(name) == _single(
                other
            ):
                return other, other
    if kind == "time.Time":
        return next(((o, o) for o in sigs if name.startswith(o[:10])), (key, key))
    if key in sigs:
        return key, key
    words = {True: "true", False: "false"}
    if key in WORDS:
        boolean = words[_read(f"[{key}]", KUBECTL)[0]]
        if boolean in sigs:
            return key, boolean
    raise Differ


def _single(text: str) -> str:
    number = float(text.replace(".inf", "inf").replace(".nan", "nan"))
    try:
        return repr(struct.unpack("f", struct.pack("f", number))[0])
    except OverflowError:
        return repr(math.copysign(math.inf, number))


def _no_json(case: dict[str, Any]) -> bool:
    return "json: unsupported value" in str(case["sigs_yaml_json"])


def _tag_is_no_uri(case: dict[str, Any]) -> bool:
    return re.match(r"a: !\S*['\[\]?]", case["text"]) is not None and not _fails(case["go_yaml_v3"])


_TAGGED_WORD = re.compile(r"cannot decode !!str `(\w+)` as a !!bool")


def _tagged_word(case: dict[str, Any]) -> bool:
    match = _TAGGED_WORD.search(str(case["go_yaml_v3"]))
    return match is not None and match[1] in WORDS and not _fails(case["sigs_yaml_json"])


def _loses_its_tag(case: dict[str, Any]) -> bool:
    tagged = re.findall(r"(?:^|[\s{[,])! +(\w+)", case["text"])
    return any(type(resolve_sigs(text)) is not str for text in tagged)


def _may_be_refused(case: dict[str, Any]) -> bool:
    """Where one of the readers' answers is a matter of luck, or is no answer.

    Keys such as 1, 1.0 and "1" are one in JSON: kubectl's reader takes one of them at random.
    """
    keys = re.findall(r"(?<=[{,])(!!\w+ [^=,]*)=", case["kyaml_tree"])
    texts = [_one(key.partition(" ")[2]) for key in set(keys)]
    return len(set(texts)) < len(texts) or _tagged_word(case)


def _one(key: str) -> Any:
    return key_text(resolve_sigs(key)) if resolve_sigs(key) is not None else key


CONDITIONS: list[tuple[str, Callable[[dict[str, Any]], bool], Callable[[dict[str, Any]], Any]]] = [
    (
        "infinity and what is no number are read as kyaml does, though JSON has neither",
        _no_json,
        lambda case: ({k: _float(v) for k, v in case["go_yaml_v3"].items()},) * 2,
    ),
    (
        "a tag with characters that no URI has is refused: libyaml refuses it, go-yaml does not",
        _tag_is_no_uri,
        lambda case: ({"a": ""},) * 2 if _libyaml_takes(case["text"]) else ERROR,
    ),
    (
        "`! yes` is a text to kubectl, and kyaml writes it without the tag",
        _loses_its_tag,
        lambda case: ERROR,
    ),
    (
        "`!!bool yes` is a boolean to kubectl, and kyaml leaves it as it is: it is read as `yes`",
        _tagged_word,
        lambda case: (None, json.loads(case["sigs_yaml_json"])),
    ),
]


def _float(answer: str) -> Any:
    return {"+Inf": math.inf, "-Inf": -math.inf}.get(answer.partition(":")[2], math.nan)


def _libyaml_takes(text: str) -> bool:
    try:
        list(yaml.parse(text, Loader=CParser))
    except yaml.YAMLError:
        return False
    return True


def _wanted(case: dict[str, Any]) -> Any:
    """(what kyaml reads, what kubectl reads), None for one that is not compared; or ERROR."""
    for _, applies, instead in CONDITIONS:
        if applies(case):
            return instead(case)
    v3, sigs = case["go_yaml_v3"], case["sigs_yaml_json"]
    if _fails(v3) or _fails(sigs):
        return ERROR
    kubectl = json.loads(sigs)
    try:
        return _joined(v3, kubectl), kubectl
    except Differ:
        return ERROR


def check(case: dict[str, Any]) -> Verdict:
    wanted = _wanted(case)
    try:
        actual: Any = _read(case["text"], TEXTS), _read(case["text"], KUBECTL)
    except KrmFnError as error:
        refused = wanted == ERROR or _may_be_refused(case)
        return Verdict(refused, wanted, f"{ERROR} {error}")
    if wanted == ERROR:
        return Verdict(False, ERROR, actual)
    pairs = [(w, a) for w, a in zip(wanted, actual, strict=True) if w is not None]
    return Verdict(all(_same(w, a) for w, a in pairs), wanted, actual)


def _same(wanted: Any, actual: Any) -> bool:
    if isinstance(wanted, float) and isinstance(actual, float) and math.isnan(wanted):
        return math.isnan(actual)
    if isinstance(wanted, dict) and isinstance(actual, dict):
        return wanted.keys() == actual.keys() and all(
            _same(v, actual[k]) for k, v in wanted.items()
        )
    return same(wanted, actual)
