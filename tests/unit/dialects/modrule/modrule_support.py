"""What the tests of the ModRule dialect share: rules from YAML, a request, an admission."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from krm_fn.admission import Cause, Cluster, Operation, Request, Response, Rule
from krm_fn.config.fields import Section
from krm_fn.config.options import OnRuleError
from krm_fn.config.sources import RuleSet
from krm_fn.dialects.modrule import DIALECT
from krm_fn.dialects.modrule.plugin import KubeMod
from krm_fn.values import Json
from krm_fn.wire import Head, read_stream
from tests.compiling import Compiled, compile_with

NO_OPTIONS: Mapping[str, Any] = {}


def rules(text: str) -> list[Rule]:
    """The rules of a text, as if it were a file."""
    found = RuleSet()
    found.add_stream(read_stream(text.encode(), "rules.yaml"))
    return found.rules


def patch_rule(patch: str, *, name: str = "r", more: str = "", match: str = "$.kind") -> str:
    """A Patch rule of the namespace web; `patch` is a flow list, `more` further lines of spec."""
    return _rule(name, f"type: Patch\n  patch: {patch}", more, match)


def reject_rule(*, name: str = "r", more: str = "", match: str = "$.kind") -> str:
    return _rule(name, "type: Reject", more, match)


def _rule(name: str, head: str, more: str, match: str) -> str:
    return (
        "---\napiVersion: api.kubemod.io/v1beta1\nkind: ModRule\n"
        f"metadata: {{name: {name}, namespace: web}}\n"
        f"spec:\n  {head}\n  match: [{{select: '{match}'}}]\n"
        + "".join(f"  {line}\n" for line in more.splitlines())
    )


def compiled(
    text: str,
    *,
    section: Mapping[str, Any] = NO_OPTIONS,
    on_error: OnRuleError = OnRuleError.FAIL,
    cluster: Cluster | None = None,
) -> Compiled:
    own = Section(dict(section), "modRules", "")
    return compile_with(DIALECT, rules(text), cluster, own, on_rule_error=on_error)


def kubemod(text: str, **options: Any) -> KubeMod:
    plugin = compiled(text, **options).plugins[0]
    assert isinstance(plugin, KubeMod)
    return plugin


def messages(text: str, *, lint: bool = False) -> list[str]:
    """What is said when rules are loaded, or all that a lint says."""
    made = compile_with(DIALECT, rules(text), lint=lint)
    return [finding.message for finding in made.findings]


def request_for(value: Json, cluster: Cluster, operation: Operation = Operation.CREATE) -> Request:
    metadata = value.get("metadata", {})
    head = Head(
        value["apiVersion"], value["kind"], metadata.get("namespace", ""), metadata.get("name", "")
    )
    resource = cluster.resource_for(head.group, head.kind)
    return Request(operation, head, resource, cluster.subject_of(head).namespace, value)


def ask(plugin: KubeMod, value: Json, cluster: Cluster | None = None) -> Response:
    cluster = cluster or Cluster()
    return plugin.admit(request_for(value, cluster), cluster)


def admit(text: str, value: Json, **options: Any) -> Response:
    return ask(kubemod(text, **options), value, options.get("cluster"))


def after(text: str, value: Json, **options: Any) -> Json:
    """The object after the rules, which say nothing about it."""
    response = admit(text, value, **options)
    assert response.findings == ()
    return value if response.object is None else response.object


def said(response: Response, cause: Cause) -> list[str]:
    return [finding.message for finding in response.findings if finding.cause is cause]


def config_map(name: str = "settings", **members: Any) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": "web"},
        **members,
    }


def namespace(name: str, **labels: str) -> Json:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}
