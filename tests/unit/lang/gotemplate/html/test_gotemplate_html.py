"""Go's html/template: what is printed is made safe where it stands, and literal text changes, too.

The expected texts are those of Go 1.26.
"""

from __future__ import annotations

import pytest

from krm_fn.errors import CompileError, EvaluationError
from krm_fn.lang.gotemplate import Struct
from krm_fn.lang.gotemplate.html import parse

RENDERED = [
    ("<p title={{.V}}>", "a b", "<p title=a&#32;b>"),
    ("<p title={{.V}}>", "", "<p title=ZgotmplZ>"),
    ("<p title='{{.V}}'>", "it's", "<p title='it&#39;s'>"),
    ('<a href="{{.V}}">', "javascript:x", '<a href="#ZgotmplZ">'),
    ('<a href="/x?q={{.V}}">', "a&b c", '<a href="/x?q=a%26b%20c">'),
    ('<a href="/{{.V}}">', "a b%20", '<a href="/a%20b%20">'),
    ("<script>x = {{.V}}</script>", "</script>", '<script>x = "\\u003c/script\\u003e"</script>'),
    ('<script>x = "{{.V}}"</script>', '"</', '<script>x = "\\u0022\\u003c\\/"</script>'),
    ("<script>x = /{{.V}}/</script>", "a.b", "<script>x = /a\\.b/</script>"),
    ("<script>x = /{{.V}}/</script>", "", "<script>x = /(?:)/</script>"),
    ("<script>`{{.V}}`</script>", "${x}", "<script>`\\u0024\\u007bx\\u007d`</script>"),
    ("<script>`${ {{.V}} }`</script>", "x", '<script>`${ "x" }`</script>'),
    ("<script>f({{len .V}})</script>", "x", "<script>f( 1 )</script>"),
    ('<script type="text/x">{{.V}}</script>', "<", '<script type="text/x">&lt;</script>'),
    ("<style>a { c: {{.V}} }</style>", "expression(1)", "<style>a { c: ZgotmplZ }</style>"),
    ("<style>a { c: {{.V}} }</style>", "red", "<style>a { c: red }</style>"),
    ('<style>a { b: "{{.V}}" }</style>', 'a"b', '<style>a { b: "a\\22 b" }</style>'),
    ("<style>a { b: url({{.V}}) }</style>", "data:x", "<style>a { b: url(#ZgotmplZ) }</style>"),
    ('<img srcset="{{.V}}">', "a.png 2x, data:x", '<img srcset="a.png 2x,#ZgotmplZ">'),
    ("<a {{.V}}=1>", "onclick", "<a ZgotmplZ=1>"),
    ("<a {{.V}}=1>", "Title", "<a title=1>"),
    ("<!-- {{.V}} -->x", "a", "x"),
    ("<textarea>{{.V}}</textarea>", "</textarea>", "<textarea>&lt;/textarea&gt;</textarea>"),
    ('<a onclick="f({{.V}})">', "a'b", '<a onclick="f(&#34;a&#39;b&#34;)">'),
    ('<meta content="0;url={{.V}}">', "javascript:x", '<meta content="0;url=#ZgotmplZ">'),
    ("{{.V}}", "<&>\"'+\0", "&lt;&amp;&gt;&#34;&#39;&#43;\ufffd"),
    ("{{.V | html}}", "a+b", "a+b"),
    ("{{html .V 1}}", "<", "&lt;1"),
    ("{{.V | urlquery}}", "a b", "a&#43;b"),
    ("{{print nil}}", "", "&lt;nil&gt;"),
    ("{{slice .V 1 3}}", "wxyz", "xy"),
    ("{{.}}", "x", "{x}"),
]


@pytest.mark.parametrize(("template", "value", "output"), RENDERED)
def test_a_value_is_made_safe_where_it_stands(template: str, value: str, output: str) -> None:
    assert parse(template, "x").render(Struct({"V": value}, "main.D")) == output


LITERAL = [
    ("a < b <i>", "a &lt; b <i>"),
    ("<title>a < b</title>", "<title>a &lt; b</title>"),
    ("a << b", "a &lt;&lt; b"),
    ("<!DOCTYPE html>", "<!DOCTYPE html>"),
    ("a <!-- b --> c", "a  c"),
    ("<script>// c\nx</script>", "<script>\nx</script>"),
    ("<script>a /* b */ c</script>", "<script>a   c</script>"),
    ('<script>"<script"</script>', '<script>"\\x3Cscript"</script>'),
    ("<none> & \" ' + >", "<none> & \" ' + >"),
]


@pytest.mark.parametrize(("template", "output"), LITERAL)
def test_literal_text_is_rewritten_without_any_action(template: str, output: str) -> None:
    assert parse(template, "x").render({}) == output


def test_a_template_that_is_called_in_two_contexts_escapes_for_both() -> None:
    text = '{{define "t"}}{{.}}{{end}}{{template "t" .V}}<a title={{template "t" .V}}>'
    assert parse(text, "x").render({"V": "a b"}) == "a b<a title=a&#32;b>"


def test_the_turns_of_a_range_must_end_where_they_begin() -> None:
    template = parse("{{range .V}}<b>{{.}}</b>{{break}}{{end}}", "x")
    assert template.render({"V": ["<"]}) == "<b>&lt;</b>"
    assert "range loop re-entry" in parse("{{range .V}}<a {{end}}", "x").refused


REFUSED = [
    ('<a b"', '"\\"" in attribute name: " b\\""'),
    ("<a", "ends in a non-text context: {stateTag delimNone urlPartNone jsCtxRegexp [] "),
    ("<a title=b'>", '"\'" in unquoted attr: "b\'"'),
    ("{{if .V}}<a {{end}}", "1:5: {{if}} branches end in different contexts: {stateTag "),
    ('<a href="{{if .V}}?{{end}}{{.V}}">', "1:28: {{.V}} appears in an ambiguous context within"),
    ("<script>{{if .V}}x{{else}}={{end}}/a</script>", "'/' could start a division or regexp: "),
    ("{{.V | html | print}}", '1:2: predefined escaper "html" disallowed in template'),
    ("<a b={{html .V}}>", '1:7: predefined escaper "html" disallowed in template'),
    ('{{template "t"}}', '1:11: no such template "t"'),
    ('<script>x = "\\', 'unfinished escape sequence in JS string: "\\\\"'),
    ("<script>/[a", 'unfinished JS regexp charset: "[a"'),
    ('{{define "t"}}<a{{if .}}{{template "t" .}}{{end}} {{end}}{{template "t" .V}}', "t"),
]


@pytest.mark.parametrize(("template", "reason"), REFUSED)
def test_what_cannot_be_made_safe_fails_whenever_it_is_rendered(template: str, reason: str) -> None:
    refused = parse(template, "x")
    with pytest.raises(EvaluationError) as failed:
        refused.render({"V": "v"})
    assert failed.value.message == refused.refused
    assert reason in refused.refused


@pytest.mark.parametrize("template", ["{{upper .V}}", "{{.V", "{{if}}", "{{end}}"])
def test_what_does_not_parse_is_a_compile_error(template: str) -> None:
    with pytest.raises(CompileError):
        parse(template, "x")


HOSTILE = [
    # Each call is in another context than the one before.
    '{{define "t"}}${ ` {{template "t"}}{{end}}<script>`{{template "t"}}',
    # Each range is walked twice for each time that the one around it is.
    "{{range .V}}" * 60 + "{{end}}" * 60,
    "".join(f'{{{{define "t{n}"}}}}{{{{template "t{n + 1}"}}}}{{{{end}}}}' for n in range(1500))
    + '{{define "t1500"}}x{{end}}{{template "t0"}}',
]


@pytest.mark.parametrize("template", HOSTILE)
def test_what_takes_too_long_to_make_safe_is_a_compile_error(template: str) -> None:
    with pytest.raises(CompileError, match="it takes more than 300,000 steps"):
        parse(template, "x")


@pytest.mark.parametrize(
    "unit", ["<a>", "<", "<script></s", "<style>(", "</", "<a b='", "{{/**/}}<"]
)
def test_a_long_text_takes_time_in_proportion(unit: str) -> None:
    template = parse(unit * 20_000, "x")
    assert template.refused or template.render({})
