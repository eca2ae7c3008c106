"""Whatever comes in, what goes out keeps the contract that kustomize and kpt rely on.

The list that leaves can be read, has no alias, keeps the annotations by which the caller knows
objects again, is never empty by accident; where nothing can be said of the input, standard output
is empty and standard error has one sentence. `KRM_FN_FUZZ_EXAMPLES=N` runs longer.
Source: the KRM functions specification; the observed behaviour of kustomize and kpt.
"""

from __future__ import annotations

import json
from typing import Any

import yaml
from fuzz_support import bounded
from hypothesis import given
from hypothesis import strategies as st
from yaml.cyaml import CParser

from krm_fn.run.function import run
from krm_fn.values import get
from krm_fn.wire import read_stream

PATH = "internal.config.kubernetes.io/path"
ID = "internal.config.kubernetes.io/id"

TEXTS = st.sampled_from(
    [
        "",
        "a",
        "yes",
        "on",
        "0o7",
        "1e3",
        "1_000",
        "~",
        "- x",
        "a: b",
        "x\ny\n",
        "\ttab",
        "é😀",
        "#c",
    ]
)
VALUES = st.recursive(
    TEXTS | st.integers(-5, 10**10) | st.booleans() | st.none() | st.floats(0, 10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
ITEMS = st.fixed_dictionaries(
    {
        "apiVersion": st.sampled_from(["v1", "apps/v1"]),
        "kind": st.sampled_from(["ConfigMap", "Deployment", "Secret", "Kptfile", "Service"]),
        "metadata": st.one_of(
            st.none(),
            st.fixed_dictionaries(
                {"name": st.sampled_from(["a", "b"])},
                optional={
                    "namespace": st.sampled_from(["default", "web"]),
                    "labels": st.dictionaries(TEXTS, TEXTS, max_size=2),
                    "annotations": st.fixed_dictionaries({PATH: TEXTS, ID: TEXTS}),
                },
            ),
        ),
    },
    optional={"spec": VALUES, "data": st.dictionaries(TEXTS, TEXTS, max_size=2)},
)
PATCHES = st.lists(
    st.fixed_dictionaries(
        {
            "op": st.sampled_from(["add", "remove", "replace"]),
            "path": st.sampled_from(
                [
                    "/metadata/labels/x",
                    "/metadata/annotations",
                    "/spec",
                    "/spec/a/-1",
                    "/data",
                    "/data/k",
                    f"/metadata/annotations/{PATH.replace('/', '~1')}",
                    "/metadata/namespace",
                    "/metadata",
                ]
            ),
            "value": st.one_of(TEXTS, VALUES.map(json.dumps)),
        }
    ),
    min_size=1,
    max_size=3,
)


def rule(patches: Any, kind: str, reject: bool) -> dict[str, Any]:
    spec: dict[str, Any] = {
        "type": "Reject" if reject else "Patch",
        "match": [{"select": "$.kind", "matchValue": kind}],
    }
    if not reject:
        spec["patch"] = patches
    return {
        "apiVersion": "api.kubemod.io/v1beta1",
        "kind": "ModRule",
        "metadata": {"name": "r", "namespace": "default"},
        "spec": spec,
    }


def written(value: Any, style: str) -> bytes:
    if style == "json":
        return json.dumps(value).encode()
    text: str = yaml.dump(value, sort_keys=False, allow_unicode=True, default_flow_style=None)
    if style == "block":
        text = yaml.dump(value, sort_keys=False, allow_unicode=True)
    data = text.encode()
    if style == "crlf":
        data = data.replace(b"\n", b"\r\n")
    return b"\xef\xbb\xbf" + data if style == "bom" else data


@bounded(150)
@given(
    st.lists(ITEMS, max_size=4),
    PATCHES,
    st.sampled_from(["ConfigMap", "Deployment", "Secret"]),
    st.booleans(),
    st.sampled_from(["Fail", "Warn", "Drop"]),
    st.sampled_from(["Fail", "Warn", "AsCluster"]),
    st.booleans(),
    st.sampled_from(["block", "flow", "json", "crlf", "bom"]),
)
def test_the_list_that_leaves_keeps_the_contract(
    items: list[dict[str, Any]],
    patches: Any,
    kind: str,
    reject: bool,
    on_reject: str,
    on_rule_error: str,
    in_a_list: bool,
    style: str,
) -> None:
    resource_list = {
        "apiVersion": "config.kubernetes.io/v1",
        "kind": "ResourceList",
        "items": [{"apiVersion": "v1", "kind": "List", "items": items}] if in_a_list else items,
        "functionConfig": {
            "apiVersion": "krm-fn.dev/v1alpha1",
            "kind": "Admission",
            "spec": {
                "onReject": on_reject,
                "onRuleError": on_rule_error,
                "rules": [{"inline": json.dumps(rule(patches, kind, reject))}],
            },
        },
    }
    source = written(resource_list, style)
    done = run(source, {})
    assert done.status in (0, 1)
    assert done.stderr.endswith("\n")
    if not done.stdout:
        assert done.status == 1
        assert done.stderr.startswith("error ")
        return
    text = done.stdout.decode().removeprefix("\ufeff")
    if style == "json":
        json.loads(text)
    else:
        assert not _has_alias(text)
    left = read_stream(done.stdout)
    assert left.is_resource_list
    if done.status == 1 or on_reject != "Drop":
        assert len(left.items) == len(items)
    assert bool(left.items) or not items
    came = {_mark(item.value) for item in read_stream(source).items}
    assert all(_mark(item.value) in came for item in left.items)


def _has_alias(text: str) -> bool:
    parser = CParser(text)
    while parser.check_event():
        if isinstance(parser.get_event(), yaml.AliasEvent):
            return True
    return False


def _mark(value: Any) -> tuple[Any, ...]:
    """The annotations by which the caller knows an object again."""
    return tuple(get(value, ("metadata", "annotations", key)) for key in (PATH, ID))


@bounded(150)
@given(st.binary(max_size=200) | st.text(max_size=200).map(lambda t: t.encode("utf-8", "replace")))
def test_anything_else_is_one_sentence_and_no_output(data: bytes) -> None:
    done = run(b"apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems: []\n" + data, {})
    assert done.status == 1
    assert done.stdout == b""
    assert done.stderr.startswith("error ")
    assert "Traceback" not in done.stderr
