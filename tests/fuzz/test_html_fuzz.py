"""Arbitrary HTML templates, and YAML of what they print, end in a value or an error, soon."""

from __future__ import annotations

from fuzz_support import bounded
from hypothesis import given
from hypothesis import strategies as st

from krm_fn.dialects.appmesh.gotypes import read_pod_spec
from krm_fn.dialects.appmesh.yamltext import read_yaml
from krm_fn.errors import CompileError, EvaluationError
from krm_fn.lang.gotemplate.html import parse

TEXTS = st.sampled_from(
    [
        *"<>\"'`=/\\{}()[];:,.+-*?#&!$x 1\n\0é\u2028",
        *("<b", "</b>", "<!--", "-->", "<script>", "</script>", "<style>", "</style>", "<title>"),
        *("</title>", "<meta content=", "<a href=", "<a title='", '<a onclick="', "<img srcset="),
        *(
            "//",
            "/*",
            "*/",
            "url(",
            "${",
            "return",
            "javascript:",
            "&lt;",
            "\\3c",
            "<!DOCTYPE html>",
        ),
        *("containers:\n", "- name: ", "  image: ", "- {name: a}\n", "initContainers: []\n"),
    ]
)
ACTIONS = st.sampled_from(
    [
        *("{{.V}}", "{{.L}}", "{{html .V}}", "{{.V | urlquery}}", "{{$x := .V}}", "{{print nil}}"),
        *("{{if .V}}", "{{else}}", "{{end}}", "{{range .L}}", "{{break}}", "{{with .V}}"),
        *('{{define "t"}}', '{{template "t" .}}', '{{block "b" .}}', "{{- /* c */ -}}", "{{.No}}"),
        *("{{slice .V 1}}", "{{index .L 0}}", '{{printf "%q" .V}}', "{{js .V}}", "{{.}}", "{{"),
    ]
)
TEMPLATES = st.lists(TEXTS | ACTIONS, max_size=20).map("".join)


@bounded(150)
@given(TEMPLATES, st.text(max_size=8))
def test_a_template_ends_in_a_text_or_a_documented_error(text: str, value: str) -> None:
    try:
        template = parse(text, "x")
        printed = template.render({"V": value, "L": [value, 1, None]})
        assert printed == template.render({"V": value, "L": [value, 1, None]})
        read_pod_spec(read_yaml(printed))
    except (CompileError, EvaluationError):
        return


@bounded(300)
@given(st.text(max_size=40))
def test_printed_in_text_no_value_opens_a_tag(value: str) -> None:
    printed = parse("a {{.V}} b", "x").render({"V": value})
    assert "<" not in printed
    assert '"' not in printed
    assert "'" not in printed
