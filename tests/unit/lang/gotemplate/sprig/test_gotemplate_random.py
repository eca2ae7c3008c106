from __future__ import annotations

import base64
import re
import uuid

import pytest

from krm_fn.errors import EvaluationError, LimitError
from krm_fn.lang.gotemplate import RenderSources, parse


def render(text: str, seed: str = "s") -> str:
    return parse("{{ " + text + " }}", "x").render({}, RenderSources(seed=seed))


@pytest.mark.parametrize(
    ("call", "shape"),
    [
        ("randAlpha 40", "[A-Za-z]{40}"),
        ("randAlphaNum 40", "[A-Za-z0-9]{40}"),
        ("randNumeric 40", "[0-9]{40}"),
        ("randAscii 40", "[ -~]{40}"),
        ("randAlpha 0", ""),
        ("randAlpha -1", ""),
        ("randInt 5 6", "5"),
        ("randInt -3 0", "-[123]"),
        ("shuffle `a`", "a"),
    ],
)
def test_an_answer_has_sprigs_shape(call: str, shape: str) -> None:
    assert re.fullmatch(shape, render(call))


def test_every_character_of_an_alphabet_comes() -> None:
    assert set(render("randAscii 5000")) == set(map(chr, range(32, 127)))


def test_random_bytes_are_base64() -> None:
    assert len(base64.b64decode(render("randBytes 5"))) == 5


def test_a_uuid_is_of_version_4() -> None:
    assert uuid.UUID(render("uuidv4")).version == 4


def test_a_shuffled_text_keeps_its_characters() -> None:
    shuffled = render("shuffle `abcdefghij`")
    assert sorted(shuffled) == list("abcdefghij")
    assert shuffled != "abcdefghij"


def test_a_render_repeats_itself_and_its_draws_differ() -> None:
    first, second = render("uuidv4 }} {{ uuidv4").split()
    assert first != second
    assert render("uuidv4 }} {{ uuidv4").split() == [first, second]


def test_another_seed_gives_other_answers() -> None:
    assert render("uuidv4", "a") != render("uuidv4", "b")


@pytest.mark.parametrize(
    "call",
    [
        "randAlpha 1",
        "randAlphaNum 0",
        "randNumeric 1",
        "randAscii 1",
        "randBytes 1",
        "randInt 0 9",
        "shuffle ``",
        "uuidv4",
    ],
)
def test_without_a_seed_chance_is_an_error(call: str) -> None:
    name = call.split()[0]
    with pytest.raises(EvaluationError) as caught:
        render(call, "")
    assert f"{name} is not deterministic at render" in str(caught.value)


@pytest.mark.parametrize("call", ["randInt 3 3", "randInt 3 1", "randBytes -1", "randAlpha `1`"])
def test_a_wrong_argument_is_an_error(call: str) -> None:
    with pytest.raises(EvaluationError):
        render(call)


@pytest.mark.parametrize("call", ["randAlpha 2000000", "randBytes 2000000000"])
def test_a_text_that_is_too_long_meets_a_limit(call: str) -> None:
    with pytest.raises(LimitError):
        render(call)


def test_who_renders_may_say_what_to_do_without_a_seed() -> None:
    with pytest.raises(EvaluationError, match=r"at render: set the seed$"):
        parse("{{ uuidv4 }}", "x").render({}, RenderSources(seed_hint="set the seed"))
