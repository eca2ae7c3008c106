from __future__ import annotations

import subprocess
import sys

import pytest

from krm_fn.lang.select import compile_select


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("$.kind", ("kind",)),
        ('$.metadata.labels["a.b/c"]', ("metadata", "labels", "a.b/c")),
        ("$", ()),
        (" $ . a // why", ("a",)),
        ("$.a[0]", None),
        ("$.a[*]", None),
        ("$[kind]", None),
        ("@.a", None),
        ("kind", None),
        ("$.a == 1", None),
        ("($.a)", ("a",)),
    ],
)
def test_an_expression_that_only_names_members_says_so(
    text: str, names: tuple[str, ...] | None
) -> None:
    assert compile_select(text).literal_path == names


def test_an_expression_keeps_its_text() -> None:
    assert compile_select(" $.a ").text == " $.a "


def test_a_bad_regular_expression_compiles() -> None:
    compile_select("$.a =~ `[`")


def test_the_regular_expression_library_is_loaded_only_when_one_is_used() -> None:
    script = (
        "import sys\n"
        "from krm_fn.lang.select import compile_select\n"
        "compile_select('$.kind == \"Pod\"').evaluate({})\n"
        "print('re2' in sys.modules, 'krm_fn.lang.select.dates' in sys.modules)\n"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["False", "False"]
