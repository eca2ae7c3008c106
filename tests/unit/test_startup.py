"""What a short run does not load: time before the first object is read is time for each of them.

Which modules are there after a run is exact and the same on every machine; time is neither.
"""

from __future__ import annotations

import subprocess
import sys

import pytest

ITEMS = "".join(
    "- apiVersion: apps/v1\n  kind: Deployment\n"
    f"  metadata: {{name: web-{n}, namespace: shop}}\n  spec: {{replicas: 2}}\n"
    for n in range(10)
)
HEAD = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n"
PLAIN = """\
  type: Patch
  match:
  - {select: $.kind, matchValue: Deployment}
  patch:
  - {op: add, path: /metadata/labels/team, value: shop}
"""
TEMPLATE = PLAIN.replace("value: shop", "value: '{{ .Namespace }}'")
REGEX = PLAIN.replace("matchValue: Deployment", "matchRegex: Deploy.*")

RUN = """\
import io, sys
sys.argv = ["krm-fn"]
sys.stdin = io.TextIOWrapper(io.BytesIO(sys.stdin.buffer.read()))
out, sys.stdout = sys.stdout, io.TextIOWrapper(io.BytesIO())
from krm_fn.__main__ import main
try:
    main()
except SystemExit as end:
    assert not end.code
    assert b"team: shop" in sys.stdout.buffer.getvalue()
print(*sorted(sys.modules), file=out)
"""

NEVER = (
    "click",
    "pathspec",
    "rich",
    "cryptography",
    "fnmatch",
    "glob",
    "hashlib",
    "importlib.metadata",
    "ipaddress",
    "jinja2",
    "jsonpatch",
    "jsonpath_ng",
    "krm_fn.cel",
    "krm_fn.cli",
    "krm_fn.dialects.appmesh",
    "krm_fn.dialects.builtin",
    "krm_fn.dialects.kubewarden",
    "krm_fn.dialects.policies",
    "krm_fn.dialects.sidecarset",
    "krm_fn.kube.cel",
    "krm_fn.lang.cel",
    "krm_fn.lang.jinja",
    "krm_fn.library",
    "krm_fn.sdk.decode",
    "krm_fn.sdk.query",
    "krm_fn.wire.comments",
    "krm_fn.wire.jsonstream",
    "krm_fn.wire.jsontext",
    "krm_fn.wire.fast.compose",
    "krm_fn.wire.fast.scan",
    "logging",
    "pathlib",
    "random",
    "subprocess",
    "tempfile",
    "urllib",
    "wasmtime",
    "zoneinfo",
)


def loaded(spec: str, options: str = "") -> set[str]:
    """The modules that are there after ten Deployments went through one ModRule."""
    rule = (
        "apiVersion: api.kubemod.io/v1beta1\nkind: ModRule\n"
        f"metadata: {{name: team, namespace: shop}}\nspec:\n{spec}"
    )
    inline = "".join(f"        {line}\n" for line in rule.splitlines())
    config = (
        "functionConfig:\n  apiVersion: krm-fn.dev/v1alpha1\n  kind: Admission\n"
        f"  metadata: {{name: a}}\n  spec:\n{options}    rules:\n    - inline: |\n"
    )
    text = HEAD + ITEMS + config + inline
    command = [sys.executable, "-S", "-c", f"import sys; sys.path[:0] = {sys.path!r}\n{RUN}"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


def those_of(modules: set[str], denied: tuple[str, ...]) -> set[str]:
    return {m for m in modules if any(m == name or m.startswith(f"{name}.") for name in denied)}


@pytest.mark.parametrize("options", ["", "    objectForm: AsWritten\n"])
def test_a_plain_rule_loads_no_other_dialect_and_no_language_that_it_does_not_use(
    options: str,
) -> None:
    denied = (*NEVER, "re2", "krm_fn.lang.gotemplate")
    assert those_of(loaded(PLAIN, options), denied) == set()


def test_what_is_seen_as_written_loads_no_defaults() -> None:
    modules = loaded(PLAIN, "    objectForm: AsWritten\n")
    assert those_of(modules, ("krm_fn.kube.served",)) == set()


def test_a_rule_with_a_template_loads_templates_but_no_regular_expressions() -> None:
    modules = loaded(TEMPLATE)
    assert "krm_fn.lang.gotemplate" in modules
    assert those_of(modules, (*NEVER, "re2")) == set()


def test_a_rule_with_a_regular_expression_loads_these() -> None:
    modules = loaded(REGEX)
    assert "re2" in modules
    assert those_of(modules, (*NEVER, "krm_fn.lang.gotemplate")) == set()
