"""Rules whose templates are Jinja's, which an annotation asks for."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from modrule_support import (
    admit,
    after,
    compiled,
    config_map,
    messages,
    namespace,
    patch_rule,
    reject_rule,
    said,
)

from krm_fn.admission import Cause, Cluster
from krm_fn.config.options import OnRuleError
from krm_fn.errors import RuleError
from krm_fn.values import Json

DOCS = Path(__file__).parents[4] / "docs" / "modrule.md"


def jinja(rule: str, engine: str = "jinja2") -> str:
    annotations = f"annotations: {{krm-fn.dev/template-engine: {engine}}}"
    return rule.replace("namespace: web}", f"namespace: web, {annotations}}}")


def add(value: str, members: str = "op: add, path: /data/x") -> str:
    return jinja(patch_rule(f"[{{{members}, value: {json.dumps(value)}}}]"))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("{{ target.metadata.name }} in {{ namespace }}", "settings in web"),
        ("{{ target.data.n + 1 }}", 8081),
        ("{{ target.data }}", {"n": 8080}),
        ("{{ selected_item }} {{ select_key_parts }}", "null []"),
        ("{% if target.data.n > 1 %}on{% endif %}", True),
        ("a: {{ target.kind }}", {"a": "ConfigMap"}),
        ("{# nothing #}", None),
        ("plain.#0", "plain.#0"),
    ],
)
def test_a_value_is_rendered_and_then_read_as_yaml(value: str, expected: object) -> None:
    assert after(add(value), config_map(data={"n": 8080}))["data"]["x"] == expected


def test_a_fan_out_gives_the_item_and_its_keys() -> None:
    rule = add(
        "{{ selected_item }}-{{ select_key_parts[0] + 1 }}",
        "op: replace, select: '$.data.list[*]', path: '/data/list/#0'",
    )
    value = config_map(data={"list": ["a", "b"]})
    assert after(rule, value)["data"]["list"] == ["a-1", "b-2"]


def test_a_reject_message_sees_the_object_and_the_namespace() -> None:
    rule = reject_rule(more="rejectMessage: '{{ target.kind }} of {{ namespace }}'")
    assert said(admit(jinja(rule), config_map()), Cause.REJECTED) == ["ConfigMap of web"]


def test_a_reject_message_that_fails_does_not_save_the_object() -> None:
    rule = jinja(reject_rule(more="rejectMessage: '{{ selected_item }}'"))
    response = admit(rule, config_map())
    assert said(response, Cause.REJECTED) == [
        "operation rejected by the following ModRule(s): web/r"
    ]
    assert said(response, Cause.WARNING) == [
        "rejectMessage cannot be rendered: template: rejectMessage:1: 'selected_item' is undefined"
    ]


def test_what_is_missing_is_an_error_of_the_rule() -> None:
    response = admit(add("{{ target.data.nope }}"), config_map(data={}), on_error=OnRuleError.WARN)
    assert said(response, Cause.WARNING) == [
        "cannot be computed: template: /data/x:1: 'dict object' has no attribute 'nope'; "
        "the rule is skipped"
    ]


def test_synthetic_references_are_seen() -> None:
    rule = add("{{ target.syntheticRefs.namespace.metadata.labels.team }}")
    cluster = Cluster(namespaces={"web": namespace("web", team="shop")})
    assert after(rule, config_map(data={}), cluster=cluster)["data"]["x"] == "shop"


def test_a_template_that_does_not_compile_is_an_error_where_rules_are_loaded() -> None:
    with pytest.raises(RuleError) as caught:
        compiled(add("a\n{{ 1 + }}"))
    assert "spec.patch[0].value: template: /data/x:2: unexpected" in str(caught.value)
    with pytest.raises(RuleError) as caught:
        compiled(jinja(reject_rule(more="rejectMessage: '{% nope %}'")))
    assert "spec.rejectMessage: template: rejectMessage:1: Encountered unknown tag" in str(
        caught.value
    )


@pytest.mark.parametrize(
    ("engine", "hint"),
    [
        ("jinja", "; did you mean jinja2?"),
        ("Jinja3", "; did you mean jinja2?"),
        ("mustache", "; there is only jinja2"),
        ("true", "; there is only jinja2"),
    ],
)
def test_another_engine_is_an_error(engine: str, hint: str) -> None:
    with pytest.raises(RuleError) as caught:
        compiled(jinja(reject_rule(), engine))
    said = str(caught.value)
    assert "metadata.annotations has krm-fn.dev/template-engine: " in said
    assert hint in said


def test_without_the_annotation_a_template_is_gos() -> None:
    rule = patch_rule("[{op: add, path: /data/x, value: '{{ target }}'}]")
    with pytest.raises(RuleError):
        compiled(rule)


def test_a_key_part_outside_of_an_action_is_a_text_and_no_trap() -> None:
    rule = "[{op: add, select: '$.data.*', path: '/data/#0', value: 'x.#0y'}]"
    assert messages(jinja(patch_rule(rule))) == []
    assert messages(patch_rule(rule)) != []


def test_lint_says_that_kubemod_reads_the_templates_as_gos() -> None:
    assert messages(add("{{ namespace }}"), lint=True) == [
        "metadata.annotations: krm-fn.dev/template-engine is not KubeMod's, which reads the "
        "templates as Go's"
    ]


def test_neither_jinja_nor_go_templates_are_loaded_for_the_other() -> None:
    program = (
        "import sys\n"
        "from krm_fn.dialects.modrule.templates import compile_value\n"
        "compile_value('{{ .Namespace }}', 'x', 'go')\n"
        "assert 'jinja2' not in sys.modules\n"
        "compile_value('plain', 'x', 'jinja2')\n"
        "assert 'jinja2' not in sys.modules\n"
        "compile_value('{{ namespace }}', 'x', 'jinja2').render({'namespace': 'a'}, None)\n"
        "assert 'jinja2' in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_the_example_of_the_documentation_does_what_it_says() -> None:
    page = DOCS.read_text()
    rule = next(text for text in re.findall(r"```yaml\n(.*?)```", page, re.S) if "jinja2" in text)
    deployment: Json = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "shop", "labels": {"team": "a", "tier": "b"}},
        "spec": {"template": {"spec": {"containers": [{"name": "web"}, {"name": "log"}]}}},
    }
    patched = after(rule, deployment)
    assert patched["metadata"]["annotations"] == {"example.com/containers": "web,log"}
    assert patched["spec"]["template"]["metadata"]["labels"] == {"team": "a", "tier": "b"}
