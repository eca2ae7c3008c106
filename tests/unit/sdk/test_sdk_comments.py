"""Comments, as a function author reads and writes them."""

from __future__ import annotations

import pytest
from sdk_support import LIST, a_list

from krm_fn import sdk
from krm_fn.errors import KrmFnError
from krm_fn.sdk import KubeObject, ResourceList


@pytest.fixture
def rl() -> ResourceList:
    return a_list()


@pytest.fixture
def web(rl: ResourceList) -> KubeObject:
    return rl.items[0]


def test_comments_are_read_by_the_path_of_their_value(web: KubeObject) -> None:
    assert web.line_comment("metadata", "name") == "its name"
    assert web.line_comment("spec", "containers") == "of the pod"
    assert web.head_comment("spec", "replicas") == "as many as we pay for"
    assert web.head_comment() == "the web"
    assert web.line_comment("metadata", "namespace") == ""
    assert web.line_comment("metadata", "nothing") is None
    assert web.nested_subobject("spec").head_comment("replicas") == "as many as we pay for"


def test_all_comments_are_read_at_once(web: KubeObject) -> None:
    assert web.line_comments() == {
        ("metadata", "name"): "its name",
        ("spec", "containers"): "of the pod",
    }
    assert web.nested_subobject("spec").head_comments() == {("replicas",): "as many as we pay for"}


def test_comments_are_read_as_they_were_set(web: KubeObject) -> None:
    web.set_line_comment("another", "metadata", "name")
    web.set_head_comment("", "spec", "replicas")
    web.set_nested("b", "spec", "new")
    web.set_line_comment("fresh", "spec", "new")
    assert web.line_comment("metadata", "name") == "another"
    assert web.head_comment("spec", "replicas") == ""
    assert web.line_comment("spec", "new") == "fresh"
    assert web.head_comments() == {(): "the web"}


def test_line_comments_are_set_replaced_and_removed(rl: ResourceList, web: KubeObject) -> None:
    web.set_line_comment("how many", "spec", "replicas")
    web.set_line_comment("", "metadata", "name")
    web.set_line_comment("all", "spec", "containers")
    web.set_nested("b", "spec", "new")
    web.set_line_comment("fresh", "spec", "new")
    text = rl.to_yaml().decode()
    assert "    replicas: 2 # how many\n" in text
    assert "    name: web\n" in text
    assert "    containers: # all\n    - name: a\n" in text
    assert "    new: b # fresh\n" in text


def test_head_comments_are_set_replaced_and_removed(rl: ResourceList, web: KubeObject) -> None:
    web.set_head_comment("which team\n\nsee the list", "metadata", "labels")
    web.set_head_comment("", "spec", "replicas")
    web.set_head_comment("another web")
    web.nested_slice("spec", "containers")[1].set_head_comment("the second")
    assert rl.to_yaml() == LIST.replace(
        b"    labels:", b"    # which team\n    #\n    # see the list\n    labels:"
    ).replace(b"    # as many as we pay for\n", b"").replace(
        b"# the web", b"# another web"
    ).replace(b"    - name: b", b"    # the second\n    - name: b")


def test_a_line_comment_is_one_line(web: KubeObject) -> None:
    with pytest.raises(KrmFnError, match="a line comment is one line"):
        web.set_line_comment("a\nb", "kind")


@pytest.mark.parametrize(
    "fields", [("metadata", "labels", "app"), ("spec", "nothing"), ("spec", "containers", 0)]
)
def test_a_comment_that_cannot_stand_is_refused(
    rl: ResourceList, web: KubeObject, fields: tuple[str | int, ...]
) -> None:
    web.set_line_comment("x", *fields)
    with pytest.raises(KrmFnError, match="cannot have a line comment"):
        rl.to_yaml()


def test_json_has_no_comments() -> None:
    source = b"""{"apiVersion": "config.kubernetes.io/v1", "kind": "ResourceList", "items": [
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}]}"""
    rl = a_list(source)
    assert rl.items[0].line_comments() == {}
    rl.items[0].set_line_comment("x", "kind")
    with pytest.raises(KrmFnError, match="JSON has no comments"):
        rl.to_yaml()


def test_a_new_object_brings_its_comments(rl: ResourceList) -> None:
    text = "# why\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a # kpt-set: ${name}\n"
    rl.add(sdk.parse_kube_object(text))
    out = rl.to_yaml().decode()
    assert "# why\n- apiVersion: v1\n  kind: ConfigMap\n" in out
    assert "    name: a # kpt-set: ${name}\n" in out


def test_an_object_alone_keeps_its_comments(web: KubeObject) -> None:
    web.set_line_comment("two", "spec", "replicas")
    text = web.to_yaml()
    assert text.startswith("# the web\napiVersion: apps/v1\n")
    assert "  # as many as we pay for\n  replicas: 2 # two\n" in text
