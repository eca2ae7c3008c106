"""Where rules come from: inline, files, items; twins, duplicates, paths that lead away."""

from __future__ import annotations

from pathlib import Path

import pytest

from krm_fn.config.options import FromItems, Inline, Options, Paths
from krm_fn.config.sources import RuleSet, collect
from krm_fn.errors import ConfigError, KrmFnError, RuleError
from krm_fn.kube.selectors import parse_selector
from krm_fn.run.admit import stages_of
from krm_fn.wire import Item, read_stream

RULE = "apiVersion: api.kubemod.io/v1beta1\nkind: ModRule\nmetadata:\n  name: {name}\n{more}"


def rule(name: str, more: str = "") -> str:
    return RULE.format(name=name, more=more)


def items(*texts: str) -> list[Item]:
    return read_stream("---\n".join(texts).encode()).items


def names(rules: RuleSet) -> list[str]:
    return [rule.ref.name for rule in rules.rules]


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_without_a_source_the_rules_are_those_among_the_items() -> None:
    assert names(collect(Options(), items(rule("a"), rule("b")), None)) == ["a", "b"]


def test_with_a_source_the_rules_among_the_items_are_not_taken() -> None:
    admission = Options(rules=(Inline(rule("a"), "spec"),))
    assert names(collect(admission, items(rule("b")), None)) == ["a"]


def test_rules_among_the_items_are_selected_by_label() -> None:
    labelled = rule("a", "  labels: {'on': 'yes'}\n")
    admission = Options(rules=(FromItems(parse_selector("on=yes")),))
    assert names(collect(admission, items(labelled, rule("b")), None)) == ["a"]


def test_the_twin_of_the_function_config_is_no_rule() -> None:
    config = items(rule("a"))[0]
    twin = rule("a", "  annotations:\n    config.kubernetes.io/path: rules.yaml\n")
    admission = Options()
    assert names(collect(admission, items(twin, rule("b")), config)) == ["b"]


def test_the_same_rule_from_two_places_counts_once() -> None:
    marked = rule("a", "  annotations:\n    config.kubernetes.io/index: '0'\n")
    assert names(collect(Options(), items(rule("a"), marked), None)) == ["a"]


def test_two_rules_of_one_name_are_an_error_that_names_both_places() -> None:
    Path("a.yaml").write_text(rule("a"))
    Path("b.yaml").write_text(rule("a", "spec: {type: Reject}\n"))
    with pytest.raises(RuleError, match=r"a\.yaml:1 and b\.yaml:1"):
        collect(Options(rules=(Paths(("a.yaml", "b.yaml"), "spec"),)), [], None)


def test_paths_are_files_directories_and_globs() -> None:
    Path("rules/deep").mkdir(parents=True)
    Path("rules/.hidden").mkdir()
    Path("rules/b.yaml").write_text(rule("b"))
    Path("rules/deep/a.yml").write_text(rule("a"))
    Path("rules/.hidden/c.yaml").write_text(rule("c"))
    Path("rules/notes.txt").write_text("no rule")
    whole = Options(rules=(Paths(("rules/",), "spec"),))
    assert names(collect(whole, [], None)) == ["b", "a"]
    globbed = Options(rules=(Paths(("rules/*.yaml",), "spec"),))
    assert names(collect(globbed, [], None)) == ["b"]


AWAY = [
    ("nowhere/", "does not exist (looked in"),
    ("../rules", "paths have no `..`"),
    ("/etc/passwd", "is absolute"),
    ("*.nothing", "nothing matches"),
]


@pytest.mark.parametrize(("path", "part"), AWAY)
def test_a_path_that_is_not_there_or_leads_away_is_refused(path: str, part: str) -> None:
    with pytest.raises(ConfigError) as caught:
        collect(Options(rules=(Paths((path,), "spec.rules[0].paths"),)), [], None)
    assert part in str(caught.value)


def test_a_symbolic_link_out_of_the_tree_is_refused(tmp_path: Path) -> None:
    outside = tmp_path.parent / "outside.yaml"
    outside.write_text(rule("a"))
    Path("rules").mkdir()
    Path("rules/link.yaml").symlink_to(outside)
    with pytest.raises(ConfigError, match="symbolic link"):
        collect(Options(rules=(Paths(("rules",), "spec"),)), [], None)


def test_the_command_line_may_name_rules_anywhere(tmp_path: Path) -> None:
    outside = tmp_path.parent / "anywhere.yaml"
    outside.write_text(rule("a"))
    assert names(collect(Options(), [], None, extra_paths=[str(outside)])) == ["a"]


def test_rules_in_the_image_are_a_stage_of_their_own_behind_the_others() -> None:
    Path("baked").mkdir()
    Path("baked/a.yaml").write_text(rule("baked"))
    found = stages_of(Options(), [read_stream(rule("a").encode())], image_rules="baked")
    assert [names(stage.rules) for stage in found] == [["a"], ["baked"]]


def test_what_is_no_rule_is_kept_as_an_object_that_rules_may_refer_to() -> None:
    text = rule("a") + "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: n}\n"
    found = collect(Options(rules=(Inline(text, "spec"),)), [], None)
    assert [value["kind"] for value in found.objects] == ["Namespace"]


WRONG = [
    (rule("a").replace("ModRule", "ModRules"), "did you mean ModRule?"),
    ("a: [", "not valid YAML"),
    ("", "holds no rule"),
    ("apiVersion: v1\nkind: Pod\n", "holds no rule"),
]


@pytest.mark.parametrize(("text", "part"), WRONG)
def test_a_source_that_cannot_be_read_says_where(text: str, part: str) -> None:
    with pytest.raises(KrmFnError) as caught:
        collect(Options(rules=(Inline(text, "spec.rules[0].inline"),)), [], None)
    assert part in str(caught.value)
    assert "spec.rules[0].inline" in str(caught.value)
