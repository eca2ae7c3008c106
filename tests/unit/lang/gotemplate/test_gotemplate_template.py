from __future__ import annotations

import copy
from datetime import datetime
from typing import Any

import pytest

from krm_fn.errors import CompileError, EvaluationError, LimitError
from krm_fn.lang.go.values import GoInt
from krm_fn.lang.gotemplate import Pointer, RenderSources, Struct, parse

DOCUMENT: dict[str, Any] = {
    "name": "cart",
    "nul": None,
    "replicas": 3,
    "big": 250000000,
    "ratio": 0.25,
    "labels": {"b": "y", "a": "x"},
    "names": ["kiwi", "fig"],
    "empty": [],
}


SOURCES = RenderSources(datetime(2024, 5, 6), "seed")


def render(text: str, document: Any = DOCUMENT) -> str:
    context = {
        "Namespace": "shop",
        "Target": Pointer(document),
        "SelectKeyParts": [GoInt(1), "web"],
        "SelectedItem": None,
    }
    return parse(text, "/spec/x").render(Struct(context, "*core.PatchTemplateContext"), SOURCES)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", "plain"),
        ("{{ .Namespace }}", "shop"),
        ("{{ .Target.name | upper | printf `%s!` }}", "CART!"),
        ("{{ .Target.replicas }} {{ .Target.big }} {{ .Target.ratio }}", "3 2.5e+08 0.25"),
        ("{{ 010 }} {{ 0x1F }} {{ 1_000 }} {{ 'a' }} {{ 1e3 }}", "8 31 1000 97 1000"),
        ("{{ .Target.nope }} {{ .Target.nul }}", "<no value> <no value>"),
        ("{{ .Target.nope.x.y }}", "<no value>"),
        ("{{ print .Target.nul }}", "<nil>"),
        ("{{ range $i, $n := .Target.names }}{{ $i }}{{ $n }} {{ end }}", "0kiwi 1fig "),
        ("{{ range $k, $v := .Target.labels }}{{ $k }}{{ $v }}{{ end }}", "axby"),
        ("{{ range .Target.empty }}x{{ else }}none{{ end }}", "none"),
        ("{{ range .Target.names }}{{ . }}{{break}}{{ end }}", "kiwi"),
        ("{{ range .Target.names }}{{if eq . `kiwi`}}{{continue}}{{end}}{{ . }}{{ end }}", "fig"),
        ("{{ with .Target.labels }}{{ .a }}{{ $.Namespace }}{{ end }}", "xshop"),
        ("{{ if .Target.empty }}a{{ else if .Target.names }}b{{ else }}c{{ end }}", "b"),
        ("{{ $x := 1 }}{{ if true }}{{ $x = 2 }}{{ $x := 3 }}{{ end }}{{ $x }}", "2"),
        (
            '{{ define "t" }}<{{ . }}>{{ end }}{{ template "t" 5 }}{{ template "t" }}',
            "<5><<no value>>",
        ),
        ('{{ block "b" .Target }}{{ .name }}{{ end }}', "cart"),
        ("{{ and 1 0 (fail `never`) }}{{ or 0 `x` }}{{ not nil }}", "0xtrue"),
        ("{{ index .Target.names 1 }}{{ index .Target `labels` `a` }}", "figx"),
        ("{{ len .Target.names }}{{ len `é` }}", "22"),
        ("{{ eq .Target.replicas 3.0 }}{{ eq (int .Target.replicas) 3 }}", "truetrue"),
        ("{{ eq .Target.nope `x` }}{{ eq nil .Target.labels }}", "falsefalse"),
        ("{{ (index .Target.names 0) }}{{ (dict `a` 1).a }}", "kiwi1"),
        ("{{ html `<a>` }}{{ js `'` }}{{ urlquery `a b&` }}", "&lt;a&gt;\\'a+b%26"),
    ],
)
def test_a_template_renders(text: str, expected: str) -> None:
    assert render(text) == expected


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{{ .Nope }}", '1:3: executing "/spec/x" at <.Nope>: can\'t evaluate field Nope'),
        (
            "\n{{ .Target.name.x }}",
            '2:10: executing "/spec/x" at <.Target.name.x>: can\'t evaluate',
        ),
        ("{{ .Target.nul.x }}", "nil pointer evaluating interface {}.x"),
        ("{{ eq .Target.replicas 3 }}", "incompatible types for comparison"),
        ("{{ eq .Target.labels nil }}", "uncomparable type"),
        ("{{ lt nil 1 }}", "invalid type for comparison"),
        ("{{ index .Target.names .Target.replicas }}", "with type float64"),
        ("{{ index .Target.names 2 }}", "index out of range: 2"),
        ("{{ range .Target.replicas }}{{ end }}", "range can't iterate over 3"),
        ("{{ upper 5 }}", "expected string; found 5"),
        ("{{ upper .Target.replicas }}", "wrong type for value; expected string; got float64"),
        ("{{ upper .Target.nope }}", "invalid value; expected string"),
        ("{{ until (add 1 2) }}", "expected int; got int64"),
        ("{{ hasKey .Target `a` }}", "got *interface {}"),
        ("{{ nil }}", "nil is not a command"),
        ("{{ 1 2 }}", "can't give argument to non-function 1"),
        ("{{ .Target.name 1 }}", "name is not a method but has arguments"),
        ("{{ lt 1 }}", "wrong number of args for lt: want 2 got 1"),
        ("{{ eq }}", "want at least 1 got 0"),
        ('{{ template "nope" }}', 'template "nope" not defined'),
        ("{{ print .Target }}", "memory address"),
        ("{{ fail `no` }}", "at <fail `no`>: error calling fail: no"),
    ],
)
def test_a_mistake_is_an_error_shaped_as_gos(text: str, reason: str) -> None:
    with pytest.raises(EvaluationError) as caught:
        render(text)
    assert str(caught.value).startswith("template: /spec/x:")
    assert reason in str(caught.value)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{{ }}", "missing value for command"),
        ("{{ $x }}", 'undefined variable "$x"'),
        ("{{ if 1 }}", "unexpected EOF"),
        ("{{ end }}", "unexpected {{end}}"),
        ("{{break}}", "{{break}} outside {{range}}"),
        ("{{ range .x }}{{ break }}{{ end }}", "in {{break}}"),
        ("{{ upper | `a` }}", "non executable command in pipeline stage 2"),
        ("{{ `a`.x }}", "unexpected . after term"),
        ("{{ 18446744073709551616 }}", "integer overflow"),
        ("{{ 1__0 }}", "illegal number syntax"),
        ('{{ "\\q" }}', "invalid syntax"),
        ('{{ define "t" }}a{{ end }}{{ define "t" }}b{{ end }}', "multiple definition"),
        ("{{ nope }}", 'function "nope" not defined'),
        ("{{ env `HOME` }}", 'function "env" not defined'),
        ("{{ toYaml . }}", 'function "toYaml" not defined (only Helm has it; write toJson'),
        ("{{ " + "(" * 300 + "1" + ")" * 300 + " }}", "nests deeper than 200"),
    ],
)
def test_what_does_not_parse_is_refused_with_its_line(text: str, reason: str) -> None:
    with pytest.raises(CompileError) as caught:
        parse("\n" + text, "rejectMessage")
    assert str(caught.value).startswith("template: rejectMessage:2: ")
    assert reason in str(caught.value)


def test_a_template_without_actions_is_a_constant() -> None:
    assert parse("a{{/* c */}}b", "x").constant == "ab"
    assert parse("{{ 1 }}", "x").constant is None


def test_a_template_says_whether_it_changes_its_context() -> None:
    assert parse("{{ $_ := set .Target.labels `c` 1 }}", "x").mutates
    assert not parse("{{ get .Target.labels `a` }}", "x").mutates


def test_the_context_is_not_changed() -> None:
    document = copy.deepcopy(DOCUMENT)
    render("{{ $l := append .Target.names 1 }}{{ omit .Target.labels `a` }}{{ $l }}", document)
    assert document == DOCUMENT
    assert type(document["replicas"]) is int


def test_a_template_can_be_rendered_again_after_an_error() -> None:
    template = parse("{{ range .L }}{{ upper . }}{{ end }}", "x")
    with pytest.raises(EvaluationError):
        template.render({"L": ["a", 1]})
    assert template.render({"L": ["a", "b"]}) == "AB"


@pytest.mark.parametrize(
    "text",
    [
        "{{ range until 1000 }}{{ range until 1000 }}{{ end }}{{ end }}",
        '{{ define "r" }}{{ template "r" }}{{ end }}{{ template "r" }}',
        "{{ repeat 2000000 `a` }}",
        "{{ $s := repeat 500000 `a` }}{{ $s }}{{ $s }}{{ $s }}",
        "{{ indent 100000000 `a` }}",
        "{{ printf `%999999d` 1 | printf `%999999s%s` `a` }}",
        "{{ untilStep 0 100000000 1 }}",
        "{{ seq 100000000 }}",
        "{{ replace `` (repeat 2000 `x`) (repeat 2000 `y`) }}",
        "{{ $x := list 1 }}{{ range until 60 }}{{ $x = list $x $x }}{{ end }}{{ $x }}",
        "{{ $x := list 1 }}{{ range until 60 }}{{ $x = list $x $x }}{{ end }}{{ toJson $x }}",
        "{{ $x := list }}{{ range until 50000 }}{{ $x = list $x }}{{ end }}{{ $x }}",
        "{{ $d := dict }}{{ $_ := set $d `a` $d }}{{ $d }}",
        "{{ $s := repeat 1000000 `a` }}{{ range until 10000 }}{{ $x := contains `b` $s }}{{ end }}",
        "{{ fromJson (repeat 5000 `[`) }}",
        "{{ join (repeat 1000 `,`) (until 10000) }}",
        "{{ wrapWith 1 (repeat 1000 `-`) (repeat 10000 `a`) }}",
        "{{ regexReplaceAll `` (repeat 10000 `a`) (repeat 1000 `b`) }}",
        "{{ snakecase (repeat 500000 `A-`) }}",
        "{{ $l := list (repeat 99999 `é`) }}{{ range until 900 }}{{ $x := sortAlpha $l }}{{ end }}",
        "{{ $l := until 20000 }}{{ range until 5000 }}{{ $x := print $l }}{{ end }}",
        "{{ $t := now }}{{ range until 9000 }}{{ $x := dateInZone `15` $t `Asia/Tok` }}{{ end }}",
        "{{ (toDate `MST` (print `GMT+` (repeat 5000 `0`) `3`)).Format (repeat 1000 `MST`) }}",
        "{{ $s := repeat 300000 `1s` }}{{ range until 5000 }}{{ $x := durationRound $s }}{{ end }}",
        "{{ genCAWithKey `a` 1 (print (repeat 45000 `-----BEGIN A-----\n`) `\n-----END A-----`) }}",
    ],
)
def test_a_hostile_template_meets_a_limit(text: str) -> None:
    with pytest.raises(LimitError):
        render(text)
