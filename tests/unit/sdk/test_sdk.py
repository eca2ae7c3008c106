"""The functions SDK, as a function author meets it."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from krm_fn import sdk
from krm_fn.errors import ConfigError, KrmFnError
from krm_fn.sdk import (
    FieldTypeError,
    InternalAnnotationError,
    KubeObject,
    ResourceList,
    is_gvk,
)

LIST = b"""\
apiVersion: config.kubernetes.io/v1
kind: ResourceList
items:
# the web
- apiVersion: apps/v1
  kind: Deployment
  metadata:
    name: web # its name
    namespace: shop
    labels: {app: web}
    annotations:
      internal.config.kubernetes.io/path: 'd/web.yaml'
      internal.config.kubernetes.io/index: '1'
      internal.config.kubernetes.io/id: '7'
  spec:
    replicas: 2
    paused: false
    ratio: 0.5
    containers:
    - name: a
      args: [x, 'y']
- apiVersion: kpt.dev/v1
  kind: Kptfile
  metadata:
    name: p
    annotations: {internal.config.kubernetes.io/path: Kptfile}
functionConfig:
  apiVersion: v1
  kind: ConfigMap
  metadata: {name: f}
  data: {team: checkout}
"""


@pytest.fixture
def rl() -> ResourceList:
    return sdk.parse_resource_list(LIST)


@pytest.fixture
def web(rl: ResourceList) -> KubeObject:
    return rl.items[0]


def label(rl: ResourceList) -> bool:
    for obj in rl.items.where(is_gvk("apps", "", "Deployment")):
        obj.set_label("team", "checkout")
    return True


def test_a_function_of_a_few_lines_changes_only_what_it_sets() -> None:
    out = sdk.run(sdk.ResourceListProcessorFunc(label), LIST)
    assert out == LIST.replace(b"{app: web}", b"{app: web, team: checkout}")


def test_the_head_of_an_object_is_typed(web: KubeObject) -> None:
    assert (web.api_version, web.kind, web.namespace, web.name) == (
        "apps/v1",
        "Deployment",
        "shop",
        "web",
    )
    assert (web.group, web.version) == ("apps", "v1")
    assert web.get_id() == ("apps", "Deployment", "shop", "web")
    assert web.short_string() == "Deployment shop/web"
    assert web.path_annotation == "d/web.yaml"
    assert web.index_annotation == 1
    assert web.id_annotation == "7"


def test_renaming_keeps_the_identity_it_came_with(web: KubeObject) -> None:
    web.name = "api"
    web.namespace = "other"
    assert web.get_id() == ("apps", "Deployment", "other", "api")
    assert web.get_origin_id() == ("apps", "Deployment", "shop", "web")


def test_fields_are_read_by_type(web: KubeObject) -> None:
    assert web.nested_int("spec", "replicas") == 2
    assert web.nested_bool("spec", "paused") is False
    assert web.nested_float("spec", "ratio") == 0.5
    assert web.nested_float("spec", "replicas") == 2.0
    assert web.nested_string("spec", "missing") is None
    assert web.nested_string_map("metadata", "labels") == {"app": "web"}
    container = web.nested_slice("spec", "containers")[0]
    assert container.nested_string("name") == "a"
    assert container.nested_string_slice("args") == ["x", "y"]


def test_a_field_of_another_type_is_an_error_that_names_it(web: KubeObject) -> None:
    with pytest.raises(FieldTypeError, match=r"spec\.replicas is of type int, not str"):
        web.nested_string("spec", "replicas")


def test_fields_are_set_and_removed_below_an_object(rl: ResourceList, web: KubeObject) -> None:
    web.nested_slice("spec", "containers")[0].set_nested("b", "name")
    web.upsert_map("spec", "template").set_nested(True, "x")
    assert web.remove_nested_field("spec", "ratio")
    assert not web.remove_nested_field("spec", "nothing")
    text = rl.to_yaml().decode()
    assert "    - name: b\n      args: [x, 'y']\n" in text
    assert "ratio" not in text
    assert "    template:\n      x: true\n" in text
    assert "name: web # its name" in text


def test_annotations_of_the_caller_cannot_be_written(web: KubeObject) -> None:
    with pytest.raises(InternalAnnotationError):
        web.set_annotation("internal.config.kubernetes.io/path", "elsewhere.yaml")
    web.set_annotation("mine", "yes")
    assert web.get_annotation("mine") == "yes"
    assert web.remove_annotation("mine")


def test_objects_are_selected_by_predicates(rl: ResourceList) -> None:
    items = rl.items
    assert [o.kind for o in items.where(sdk.is_meta_resource())] == ["Kptfile"]
    assert [o.kind for o in items.where_not(sdk.is_name("p"))] == ["Deployment"]
    assert [o.kind for o in items.where(sdk.has_labels({"app": "web"}))] == ["Deployment"]
    assert [o.kind for o in items.where(sdk.not_(sdk.is_namespace("shop")))] == ["Kptfile"]
    root = items.get_root_kptfile()
    assert root is not None
    assert root.name == "p"


def test_objects_can_be_dropped_and_added(rl: ResourceList) -> None:
    rl.drop(rl.items[0])
    rl.add({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "new"}})
    left = sdk.parse_resource_list(rl.to_yaml())
    assert [obj.short_string() for obj in left.items] == ["Kptfile p", "ConfigMap new"]


def test_results_have_object_file_and_severity(rl: ResourceList, web: KubeObject) -> None:
    rl.results.info(f"{2} objects")
    rl.results.warning("too many", web)
    rl.results.error_e(ConfigError("broken"))
    rl.sort()
    assert rl.results.failed
    assert [r["severity"] for r in rl.results.to_json()] == ["error", "warning", "info"]
    assert rl.results.to_json()[1] == {
        "message": "too many",
        "severity": "warning",
        "resourceRef": {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "namespace": "shop",
            "name": "web",
        },
        "file": {"path": "d/web.yaml", "index": 1},
    }
    printed = io.StringIO()
    rl.log_result(printed)
    assert "[warning] apps/v1/Deployment shop/web: too many\n" in printed.getvalue()


def test_functions_are_chained_until_one_fails() -> None:
    called: list[str] = []

    def step(name: str, answer: bool) -> sdk.ResourceListProcessorFunc:
        def process(rl: ResourceList) -> bool:
            called.append(name)
            return answer

        return sdk.ResourceListProcessorFunc(process)

    with pytest.raises(KrmFnError):
        sdk.run(sdk.chain(step("a", True), step("b", False), step("c", True)), LIST)
    assert called == ["a", "b"]


def test_a_runner_gets_configuration_objects_and_results() -> None:
    class SetTeam:
        def run(
            self,
            context: object,
            function_config: KubeObject | None,
            items: sdk.KubeObjects,
            results: sdk.Results,
        ) -> bool:
            assert function_config is not None
            team = function_config.nested_string("data", "team")
            for obj in items.where(is_gvk("apps", "v1", "")):
                obj.set_label("team", str(team))
            results.info("done")
            return True

    out = sdk.run(sdk.WithContext(None, SetTeam()), LIST)
    assert b"{app: web, team: checkout}" in out
    assert b"results:\n- message: done\n  severity: info\n" in out


def test_errors_of_a_function_on_objects_become_results(rl: ResourceList) -> None:
    def fail(obj: KubeObject) -> None:
        obj.nested_string("spec", "replicas")

    results = sdk.apply_fn_by_selector(rl, is_gvk("apps", "", ""), fail)
    assert results.failed


def test_the_same_object_twice_is_found() -> None:
    twice = LIST.replace(b"kpt.dev/v1", b"apps/v1").replace(b"Kptfile\n", b"Deployment\n", 1)
    twice = twice.replace(b"    name: p\n", b"    name: web\n    namespace: shop\n")
    with pytest.raises(sdk.DuplicateResourceError, match="Deployment shop/web is there twice"):
        sdk.check_resource_duplication(sdk.parse_resource_list(twice))


PROGRAM = """\
import sys
from krm_fn.sdk import ResourceList, as_main

def check(rl: ResourceList) -> bool:
    {body}

sys.exit(as_main(check))
"""


def program(body: str, stdin: bytes) -> subprocess.CompletedProcess[bytes]:
    root = str(Path(__file__).resolve().parents[3])
    return subprocess.run(
        [sys.executable, "-c", PROGRAM.format(body=body)],
        input=stdin,
        capture_output=True,
        env={**os.environ, "PYTHONPATH": root},
        timeout=60,
        check=False,
    )


def test_a_program_passes_the_list_on() -> None:
    done = program("return True", LIST)
    assert (done.returncode, done.stdout, done.stderr) == (0, LIST, b"")


def test_a_program_that_fails_still_writes_the_list_with_its_results() -> None:
    done = program("rl.results.error('no'); return False", LIST)
    assert done.returncode == 1
    assert done.stdout.startswith(LIST)
    assert done.stderr == b"failed to evaluate function: no\n"


def test_a_program_that_reports_an_error_fails_whatever_it_returns() -> None:
    done = program("rl.results.error('no'); return True", LIST)
    assert done.returncode == 1
    assert done.stderr == b"failed to evaluate function: no\n"


def test_a_program_writes_nothing_where_the_input_is_no_list() -> None:
    done = program("return True", b"kind: Pod\napiVersion: v1\n")
    assert (done.returncode, done.stdout) == (1, b"")
    assert b"standard input is no ResourceList" in done.stderr
