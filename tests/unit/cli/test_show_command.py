"""`krm-fn show`: what rules see, on standard output."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result

from krm_fn.cli import main

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
