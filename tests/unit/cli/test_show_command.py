"""`krm-fn show`: what rules see, on standard output."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result

from krm_fn.cli import main
from krm_fn.errors import ConfigError

CONFIG_MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {k: v}\n"
SERVICE = "apiVersion: v1\nkind: Service\nmetadata: {name: s}\nspec: {ports: [{port: 80}]}\n"
SECRET = (
    "apiVersion: v1\nkind: Secret\nmetadata:\n  name: t\n  annotations:\n"
    '    kubectl.kubernetes.io/last-applied-configuration: "hunter22"\n'
    "stringData: {k: hunter22}\n"
)


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def show(text: str, *arguments: str) -> Result:
    Path("m.yaml").write_text(text)
    return CliRunner().invoke(main, ["show", "-f", "m.yaml", *arguments], standalone_mode=False)


def test_objects_are_printed_with_the_defaults_of_the_api_server() -> None:
    done = show(SERVICE)
    assert done.return_value == 0
    assert yaml.safe_load(done.stdout)["spec"] == {
        "ports": [{"protocol": "TCP", "port": 80, "targetPort": 80}],
        "sessionAffinity": "None",
        "type": "ClusterIP",
        "internalTrafficPolicy": "Cluster",
    }
    assert done.stderr == ""


def test_a_namespace_is_the_one_that_objects_would_be_created_in() -> None:
    done = show(CONFIG_MAP, "-n", "shop")
    assert yaml.safe_load(done.stdout)["metadata"] == {"name": "a", "namespace": "shop"}


def test_as_written_nothing_is_added_but_the_namespace() -> None:
    done = show(SERVICE, "--object-form", "aswritten")
    assert yaml.safe_load(done.stdout)["spec"] == {"ports": [{"port": 80}]}


def test_several_objects_are_documents_or_a_list() -> None:
    text = CONFIG_MAP + "---\n" + SERVICE
    assert len(list(yaml.safe_load_all(show(text).stdout))) == 2
    shown = json.loads(show(text, "-o", "json").stdout)
    assert [item["kind"] for item in shown["items"]] == ["ConfigMap", "Service"]


def test_values_of_secrets_are_hidden_unless_asked_for() -> None:
    hidden = show(SECRET).stdout
    assert "hunter22" not in hidden
    assert "aHVudGVyMjI=" not in hidden
    assert "aHVudGVyMjI=" in show(SECRET, "--show-secrets").stdout


def test_what_the_api_server_would_drop_is_a_warning_or_an_error() -> None:
    text = SERVICE.replace("ports:", "port: 80, ports:")
    done = show(text)
    assert done.return_value == 0
    assert "unknown field spec.port; did you mean ports?" in done.stderr
    assert show(text, "--strict").return_value == 1


def test_a_configuration_says_which_kubernetes_and_which_custom_kinds() -> None:
    Path("config.yaml").write_text(
        "apiVersion: krm-fn.dev/v1alpha1\nkind: Admission\nmetadata: {name: x}\n"
        "spec: {context: {kubernetesVersion: '1.20'}}\n"
    )
    done = show(SERVICE, "--config", "config.yaml")
    assert done.exception is not None
    assert "1.20" in str(done.exception)


LIMITED = """\
apiVersion: v1
kind: LimitRange
metadata: {name: limits, namespace: shop}
spec:
  limits:
  - {type: Container, default: {cpu: 500m}}
---
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: shop}
spec:
  containers:
  - {name: app, image: "app:1"}
"""


def pod_of(done: Result) -> dict[str, object]:
    documents = list(yaml.safe_load_all(done.stdout))
    return next(value["spec"] for value in documents if value and value["kind"] == "Pod")


def test_what_built_in_plugins_set_is_printed_where_something_of_theirs_is_known() -> None:
    spec = pod_of(show(LIMITED))
    (container,) = spec["containers"]
    assert container["resources"]["limits"] == {"cpu": "500m"}
    assert spec["priority"] == 0


def test_disabled_plugins_set_nothing() -> None:
    spec = pod_of(show(LIMITED, "--disable-admission-plugins", "*"))
    assert spec["containers"][0]["resources"] == {}
    assert "priority" not in spec


def test_plugins_that_are_asked_for_set_what_they_set_without_any_knowledge() -> None:
    pod = LIMITED.partition("---\n")[2]
    assert "tolerations" not in pod_of(show(pod))
    spec = pod_of(show(pod, "--admission-plugins", "AlwaysPullImages"))
    assert spec["containers"][0]["imagePullPolicy"] == "Always"
    assert len(spec["tolerations"]) == 2


def test_explained_each_field_that_is_not_in_the_file_says_who_gave_it() -> None:
    lines = [line.strip() for line in show(LIMITED, "--explain-defaults").stdout.splitlines()]
    for line in (
        "image: app:1",
        "resources:  # default",
        "limits:  # LimitRanger",
        "annotations:  # LimitRanger",
        "imagePullPolicy: IfNotPresent  # default",
        "tolerations:  # DefaultTolerationSeconds",
        "priority: 0  # Priority",
        "serviceAccountName: default  # ServiceAccount",
    ):
        assert line in lines, line


def test_explained_objects_are_the_same_objects() -> None:
    plain, explained = show(LIMITED), show(LIMITED, "--explain-defaults")
    assert list(yaml.safe_load_all(explained.stdout)) == list(yaml.safe_load_all(plain.stdout))


def test_a_text_of_several_lines_is_explained_on_its_first_line() -> None:
    annotation = 'metadata: {name: a, annotations: {t: "a\\nb\\n"}}'
    done = show(CONFIG_MAP.replace("metadata: {name: a}", annotation), "--explain-defaults")
    assert yaml.safe_load(done.stdout)["metadata"]["annotations"]["t"] == "a\nb\n"


def test_comments_are_for_yaml() -> None:
    done = show(CONFIG_MAP, "--explain-defaults", "-o", "json")
    assert isinstance(done.exception, ConfigError)
    assert "use -o yaml" in str(done.exception)
