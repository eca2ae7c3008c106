"""The plugins of examples/argocd as Argo CD's plugin server runs them.

No standard input, no shell, the Application's folder as working directory, files that came through
a tar stream with their modes reset, TERM to the process group when the time is up and KILL five
seconds later.
Source: Argo CD cmpserver/plugin/plugin.go (runCommand, getParametersAnnouncement, matchRepository).
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from e2e_support import fixtures

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "argocd"
APPLICATION = {
    "ARGOCD_APP_NAME": "web",
    "ARGOCD_APP_NAMESPACE": "shop",
    "ARGOCD_APP_SOURCE_PATH": "apps/web",
    "KUBE_VERSION": "1.34",
    "KUBE_API_VERSIONS": "v1,apps/v1",
}
NODE_PORT = "Service web opens a port on every node; use an Ingress"


@dataclass(frozen=True)
class Ended:
    """How a command of the plugin ended; `seconds` until the process was gone."""

    status: int
    out: str
    err: str
    seconds: float

    @property
    def objects(self) -> list[Any]:
        return [value for value in yaml.safe_load_all(self.out) if value]


class PluginServer:
    """Argo CD's plugin server in a sidecar: the repository, the tools on PATH, the rules."""

    def __init__(self, folder: Path, path: Sequence[Path]) -> None:
        self.repository = folder / "repository"
        self.rules = folder / "rules"
        self.path = [str(entry) for entry in path]
        shutil.copytree(EXAMPLE / "app", self.repository / "apps" / "web")
        shutil.copytree(EXAMPLE / "sidecar" / "rules", self.rules)

    @property
    def app(self) -> Path:
        return self.repository / "apps" / "web"

    def command(self, plugin: str, *way: str) -> list[str]:
        """A command of a plugin.yaml; `/rules`, the sidecar's mount, is a folder of the test."""
        found = yaml.safe_load((EXAMPLE / "sidecar" / plugin).read_text())["spec"]
        for key in way:
            found = found[key]
        words = [*found["command"], *found.get("args", [])]
        return [word.replace("/rules", str(self.rules)) for word in words]

    def run(
        self, command: Sequence[str], more: Mapping[str, str] | None = None, timeout: float = 60
    ) -> Ended:
        for path in self.repository.rglob("*"):
            path.chmod(0o755 if path.is_dir() else 0o644)
        environment = {"PATH": os.pathsep.join(self.path), **APPLICATION, **(more or {})}
        start = time.monotonic()
        process = subprocess.Popen(
            command,
            cwd=self.app,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        try:
            out, err = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGTERM)
            try:
                out, err = process.communicate(timeout=5)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                out, err = process.communicate()
        return Ended(process.returncode, out, err, time.monotonic() - start)

    def generate(self, more: Mapping[str, str] | None = None, timeout: float = 60) -> Ended:
        return self.run(self.command("plugin.yaml", "generate"), more, timeout)


@pytest.fixture
def server(tmp_path: Path, krm_fn: Path) -> PluginServer:
    tools = {
        str(Path(found).parent) for name in ("kustomize", "bash") if (found := shutil.which(name))
    }
    helm = tmp_path / "helm"
    if found := shutil.which("helm3"):
        helm.mkdir()
        (helm / "helm").symlink_to(Path(found).resolve())
    return PluginServer(tmp_path, [krm_fn, helm, *map(Path, sorted(tools))])


def parameters(**given: Any) -> dict[str, str]:
    """`ARGOCD_APP_PARAMETERS` for these, by the type of each value."""
    shape = {str: "string", list: "array", dict: "map"}
    entries = [
        {"name": name.replace("_", "-"), shape[type(value)]: value} for name, value in given.items()
    ]
    return {"ARGOCD_APP_PARAMETERS": json.dumps(entries)}


def reject(server: PluginServer) -> None:
    web = server.app / "web.yaml"
    web.write_text(
        web.read_text().replace(
            "spec:\n  selector:\n    app", "spec:\n  type: NodePort\n  selector:\n    app"
        )
    )


def plain(server: PluginServer) -> None:
    (server.app / "kustomization.yaml").unlink()


KUSTOMIZE = pytest.mark.needs("kustomize")

# ---------------------------------------------------------------- an Application that is admitted


@KUSTOMIZE
@pytest.mark.parametrize("plugin", ["plugin.yaml", "pipe.yaml"])
def test_what_is_admitted_is_printed(plugin: str, server: PluginServer) -> None:
    done = server.run(server.command(plugin, "generate"))
    assert done.status == 0, done.err
    kinds = {value["kind"]: value for value in done.objects}
    assert set(kinds) == {"Deployment", "Service"}
    spread = kinds["Deployment"]["spec"]["template"]["spec"]["topologySpreadConstraints"]
    assert spread[0]["labelSelector"] == {"matchLabels": {"app": "web"}}


@KUSTOMIZE
def test_a_kustomization_may_start_krm_fn_itself(server: PluginServer) -> None:
    (server.app / "admission.yaml").write_text(
        "apiVersion: krm-fn.dev/v1alpha1\nkind: Admission\nmetadata:\n  name: admit\n"
        "  annotations:\n    config.kubernetes.io/function: 'exec: {path: krm-fn}'\n"
        "spec:\n  rules:\n  - inline: |\n"
        + "".join(
            f"      {line}\n" for line in (server.rules / "platform.yaml").read_text().splitlines()
        )
    )
    kustomization = server.app / "kustomization.yaml"
    kustomization.write_text(kustomization.read_text() + "transformers: [admission.yaml]\n")
    done = server.run(server.command("exec.yaml", "generate"))
    assert done.status == 0, done.err
    assert "topologySpreadConstraints" in done.out


@KUSTOMIZE
def test_the_first_line_says_that_it_was_admitted(server: PluginServer) -> None:
    done = server.generate()
    assert done.err.splitlines()[0] == (
        "admitted: 2 objects, 1 changed, 0 rejected, 0 warnings (2 rules)"
    )


def test_manifests_without_a_tool_are_taken_from_the_folder(server: PluginServer) -> None:
    plain(server)
    done = server.generate()
    assert done.status == 0, done.err
    assert done.out.startswith((server.app / "web.yaml").read_text()[:60])
    assert "topologySpreadConstraints" in done.out


def test_a_folders_folders_are_left_unless_it_is_asked_for_them(server: PluginServer) -> None:
    plain(server)
    (server.app / "more").mkdir()
    shutil.copy(server.app / "web.yaml", server.app / "more" / "web.yaml")
    assert len(server.generate().objects) == 2
    assert len(server.generate(parameters(directory_recurse="true")).objects) == 4


def test_what_is_not_for_the_cluster_is_left_out(server: PluginServer) -> None:
    plain(server)
    (server.app / "local.yaml").write_text(
        "apiVersion: v1\nkind: Service\nmetadata:\n  name: local\n"
        "  annotations: {config.kubernetes.io/local-config: 'true'}\nspec: {type: NodePort}\n"
    )
    done = server.generate()
    assert [value["metadata"]["name"] for value in done.objects] == ["web", "web"]
    assert done.err.splitlines()[0].endswith("; 1 object left out that are not for the cluster")


def test_objects_without_a_namespace_are_in_the_applications(server: PluginServer) -> None:
    plain(server)
    (server.rules / "shop.yaml").write_text(
        "apiVersion: api.kubemod.io/v1beta1\nkind: ModRule\n"
        "metadata: {name: shop-only, namespace: shop}\n"
        "spec:\n  type: Patch\n  match: [{select: $.kind, matchValue: Deployment}]\n"
        "  patch: [{op: add, path: /metadata/labels/in, value: '{{ .Namespace }}'}]\n"
    )
    (deployment, _) = server.generate().objects
    assert deployment["metadata"]["labels"] == {"in": "shop"}
    (deployment, _) = server.generate({"ARGOCD_APP_NAMESPACE": "other"}).objects
    assert "labels" not in deployment["metadata"]


@pytest.mark.needs("helm3")
def test_a_chart_is_rendered_as_argo_cd_renders_it(server: PluginServer) -> None:
    chart(server)
    done = server.generate(parameters(helm_values_files=["values-prod.yaml"], helm_set={"b": "2"}))
    assert done.status == 0, done.err
    (value,) = done.objects
    assert value["metadata"] == {"name": "web", "namespace": "shop"}
    assert value["data"] == {"a": "prod", "b": "2", "kube": "v1.34", "has": "true"}


def chart(server: PluginServer) -> None:
    shutil.rmtree(server.app)
    (server.app / "templates").mkdir(parents=True)
    (server.app / "Chart.yaml").write_text("apiVersion: v2\nname: web\nversion: 1.0.0\n")
    (server.app / "values.yaml").write_text("a: default\nb: 1\n")
    (server.app / "values-prod.yaml").write_text("a: prod\n")
    (server.app / "templates" / "map.yaml").write_text(
        "apiVersion: v1\nkind: ConfigMap\n"
        "metadata: {name: {{ .Release.Name }}, namespace: {{ .Release.Namespace }}}\n"
        "data:\n  a: {{ .Values.a | quote }}\n  b: {{ .Values.b | quote }}\n"
        "  kube: {{ .Capabilities.KubeVersion.Version | quote }}\n"
        '  has: {{ .Capabilities.APIVersions.Has "apps/v1" | quote }}\n'
    )


@pytest.mark.needs("helm3")
@pytest.mark.parametrize("path", ["/etc/passwd", "../../../rules/platform.yaml"])
def test_values_files_stay_in_the_repository(path: str, server: PluginServer) -> None:
    chart(server)
    done = server.generate(parameters(helm_values_files=[path]))
    assert (done.status, done.out) == (2, "")
    assert "is outside the repository" in done.err


@pytest.mark.needs("helm3")
def test_values_files_may_be_elsewhere_in_the_repository(server: PluginServer) -> None:
    chart(server)
    (server.repository / "values").mkdir()
    (server.repository / "values" / "prod.yaml").write_text("a: shared\n")
    done = server.generate(parameters(helm_values_files=["../../values/prod.yaml"]))
    assert done.objects[0]["data"]["a"] == "shared"


# ---------------------------------------------------------------- an Application that is not


@KUSTOMIZE
@pytest.mark.parametrize("plugin", ["plugin.yaml", "pipe.yaml"])
def test_what_is_rejected_prints_nothing_and_says_why(plugin: str, server: PluginServer) -> None:
    reject(server)
    done = server.run(server.command(plugin, "generate"))
    assert (done.status, done.out) == (1, "")
    assert NODE_PORT in done.err


@KUSTOMIZE
def test_the_first_line_of_a_rejection_is_the_verdict(server: PluginServer) -> None:
    reject(server)
    verdict, reason = server.generate().err.splitlines()
    assert verdict == "rejected: 2 objects, 1 changed, 1 rejected, 0 warnings (2 rules)"
    assert reason.startswith("error v1/Service shop/web: " + NODE_PORT)


def test_a_long_verdict_is_cut_to_twenty_lines(server: PluginServer) -> None:
    plain(server)
    (server.app / "web.yaml").write_text(
        "---\n".join(
            f"apiVersion: v1\nkind: Service\nmetadata: {{name: s{n}}}\nspec: {{type: NodePort}}\n"
            for n in range(50)
        )
    )
    said = server.generate().err.splitlines()
    assert len(said) == 20
    assert said[0].startswith("rejected: 50 objects")
    assert said[-1] == "... and 32 lines more"


def test_no_secret_is_in_the_verdict(server: PluginServer) -> None:
    plain(server)
    (server.app / "web.yaml").write_text(
        "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\n"
        "stringData: {password: hunter2-hunter2}\n"
    )
    (server.rules / "tell.yaml").write_text(
        "apiVersion: api.kubemod.io/v1beta1\nkind: ModRule\n"
        "metadata: {name: tell, namespace: kubemod-system}\n"
        "spec:\n  type: Reject\n  targetNamespaceRegex: .*\n"
        "  rejectMessage: 'it is {{ .Target.data.password | b64dec }}'\n"
        "  match: [{select: $.kind, matchValue: Secret}]\n"
    )
    done = server.generate()
    assert done.status == 1
    assert "error v1/Secret s: it is (redacted)" in done.err
    assert "hunter2" not in done.err


@pytest.mark.needs("helm3")
def test_an_empty_result_is_refused(server: PluginServer) -> None:
    chart(server)
    template = server.app / "templates" / "map.yaml"
    template.write_text("{{ if false }}" + template.read_text() + "{{ end }}")
    done = server.generate()
    assert (done.status, done.out) == (4, "")
    assert done.err == "error .: renders to nothing: Argo CD would delete everything\n"


def test_a_folder_without_manifests_is_refused(server: PluginServer) -> None:
    shutil.rmtree(server.app)
    server.app.mkdir()
    (server.app / "README.md").write_text("nothing yet\n")
    done = server.generate()
    assert (done.status, done.out) == (4, "")
    assert done.err == "error .: renders to nothing: Argo CD would delete everything\n"


@KUSTOMIZE
def test_what_a_rule_drops_whole_is_refused(server: PluginServer) -> None:
    reject(server)
    web = server.app / "web.yaml"
    web.write_text(web.read_text().partition("---\n")[2])
    config = server.rules.parent / "admission.yaml"
    config.write_text(
        "apiVersion: krm-fn.dev/v1alpha1\nkind: Admission\nmetadata: {name: a}\n"
        "spec: {onReject: Drop}\n"
    )
    command = [*server.command("plugin.yaml", "generate"), "--config", str(config)]
    done = server.run(command)
    assert done.status != 0
    assert done.out == ""


@KUSTOMIZE
@pytest.mark.parametrize("plugin", ["plugin.yaml", "pipe.yaml", "exec.yaml"])
def test_a_broken_kustomization_is_told_in_its_own_words(plugin: str, server: PluginServer) -> None:
    (server.app / "kustomization.yaml").write_text("resources: [nowhere.yaml]\n")
    done = server.run(server.command(plugin, "generate"))
    assert done.status != 0
    assert done.out == ""
    assert "nowhere.yaml" in done.err


@KUSTOMIZE
def test_a_rule_that_cannot_be_read_fails_before_anything_is_printed(server: PluginServer) -> None:
    (server.rules / "broken.yaml").write_text("apiVersion: api.kubemod.io/v1beta1\nkind: ModRule\n")
    done = server.generate()
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith("error ")


# ---------------------------------------------------------------- time


def slow(server: PluginServer) -> Path:
    """A kustomize that never ends, first in PATH; answers where it writes its process id."""
    folder = server.repository.parent / "slow"
    folder.mkdir()
    note = folder / "pid"
    script = folder / "kustomize"
    script.write_text(f'#!/bin/sh\necho $$ > "{note}"\nexec sleep 600\n')
    script.chmod(0o755)
    server.path.insert(0, str(folder))
    server.path += ["/usr/bin", "/bin"]
    return note


def is_gone(note: Path) -> bool:
    try:
        os.kill(int(note.read_text()), 0)
    except ProcessLookupError:
        return True
    return False


def soon(condition: Callable[[], bool]) -> bool:
    for _ in range(100):
        if condition():
            return True
        time.sleep(0.05)
    return False


def test_the_verdict_comes_before_argo_cds_own_time_is_up(server: PluginServer) -> None:
    note = slow(server)
    done = server.generate({"ARGOCD_EXEC_TIMEOUT": "2s"}, timeout=30)
    assert (done.status, done.out) == (1, "")
    assert done.err == (
        "error not done after 1.6 s, nothing was written; "
        "ARGOCD_EXEC_TIMEOUT or --timeout gives more\n"
    )
    assert soon(lambda: is_gone(note))


def test_term_to_the_group_ends_everything_without_a_manifest(server: PluginServer) -> None:
    note = slow(server)
    done = server.generate(timeout=2)
    assert done.status == -signal.SIGTERM
    assert done.out == ""
    assert done.seconds < 6
    assert soon(lambda: is_gone(note))


# ---------------------------------------------------------------- what an Application may set


def test_an_application_may_bring_rules_of_its_own(server: PluginServer) -> None:
    plain(server)
    (server.app / "rules").mkdir()
    (server.app / "rules" / "own.yaml").write_text(
        "apiVersion: api.kubemod.io/v1beta1\nkind: ModRule\nmetadata: {name: own}\n"
        "spec:\n  type: Reject\n  rejectMessage: own rule\n"
        "  match: [{select: $.kind, matchValue: Deployment}]\n"
    )
    done = server.generate(parameters(rules=["rules"]))
    assert done.status == 1
    assert "own rule" in done.err


@pytest.mark.parametrize("path", ["/etc", "../../../rules"])
def test_its_rules_are_in_its_folder(path: str, server: PluginServer) -> None:
    plain(server)
    done = server.generate(parameters(rules=[path]))
    assert (done.status, done.out) == (2, "")
    assert "parameter rules" in done.err


def test_a_repository_with_a_link_out_of_it_is_refused(server: PluginServer) -> None:
    plain(server)
    (server.repository / "link").symlink_to(server.rules)
    done = server.generate()
    assert (done.status, done.out) == (4, "")
    assert "symbolic link that leads out of the repository" in done.err


@pytest.mark.parametrize("name", ["mode", "on_reject", "on_rule_error"])
def test_it_cannot_make_the_plugins_rules_weaker(name: str, server: PluginServer) -> None:
    plain(server)
    done = server.generate(parameters(**{name: "Warn" if name != "mode" else "Audit"}))
    assert (done.status, done.out) == (2, "")
    assert "is the plugin's to set" in done.err


def test_it_may_say_how_strict_its_own_rules_are(server: PluginServer) -> None:
    plain(server)
    reject(server)
    shutil.copytree(server.rules, server.app / "rules")
    command = ["krm-fn", "cmp", "generate"]
    assert server.run(command, parameters(rules=["rules"])).status == 1
    done = server.run(command, parameters(rules=["rules"], on_reject="Warn"))
    assert done.status == 0, done.err
    assert NODE_PORT in done.err
    by_variables = {"ARGOCD_ENV_KRM_FN_RULES": "rules", "ARGOCD_ENV_KRM_FN_ON_REJECT": "warn"}
    assert server.run(command, by_variables).out == done.out


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (parameters(on_rejct="Warn"), "parameter on-rejct is not known; did you mean on-reject?"),
        (parameters(tool="make"), "parameter tool: make is none of kustomize, helm, directory"),
        (parameters(tool=["helm"]), "parameter tool must be given as string"),
        ({"ARGOCD_APP_PARAMETERS": "{"}, "ARGOCD_APP_PARAMETERS: is not JSON"),
        ({"ARGOCD_ENV_KRM_FN_RULE": "x"}, "ARGOCD_ENV_KRM_FN_RULE is not known"),
    ],
)
def test_a_mistake_in_a_parameter_is_one_sentence(
    given: dict[str, str], says: str, server: PluginServer
) -> None:
    done = server.generate(given)
    assert (done.status, done.out) == (2, "")
    assert says in done.err
    assert len(done.err.splitlines()) == 1


def test_labels_of_the_namespace_can_be_set_where_the_rules_are_its_own(
    server: PluginServer,
) -> None:
    plain(server)
    shutil.copytree(server.rules, server.app / "rules")
    given = parameters(rules=["rules"], namespace_labels={"admission.kubemod.io/ignore": "true"})
    done = server.run(["krm-fn", "cmp", "generate"], given)
    assert done.status == 0, done.err
    assert "topologySpreadConstraints" not in done.out


# ---------------------------------------------------------------- the other commands


def test_discover_says_what_the_folder_is(server: PluginServer) -> None:
    command = server.command("plugin.yaml", "discover", "find")
    assert server.run(command).out == "kustomize\n"
    plain(server)
    assert server.run(command).out == "directory\n"
    chart(server)
    assert server.run(command).out == "helm\n"


def test_discover_says_nothing_where_there_is_nothing(server: PluginServer) -> None:
    shutil.rmtree(server.app)
    server.app.mkdir()
    done = server.run(server.command("plugin.yaml", "discover", "find"))
    assert (done.status, done.out) == (0, "")


def announced(server: PluginServer, command: Sequence[str]) -> dict[str, Any]:
    done = server.run(command)
    assert done.status == 0, done.err
    return {entry["name"]: entry for entry in json.loads(done.out)}


def test_parameters_are_announced_with_their_type_and_default(server: PluginServer) -> None:
    found = announced(server, ["krm-fn", "cmp", "parameters"])
    assert found["on-reject"]["string"] == "Fail"
    assert found["rules"] == {
        "name": "rules",
        "title": "Rules",
        "tooltip": "Files and folders with rules, in the Application's folder.",
        "collectionType": "array",
        "array": [],
    }
    assert found["namespace-labels"]["map"] == {}


def test_what_an_application_may_not_set_is_not_announced(server: PluginServer) -> None:
    found = announced(server, server.command("plugin.yaml", "parameters", "dynamic"))
    assert "rules" in found
    assert not {"mode", "on-reject", "on-rule-error", "namespace-labels"} & found.keys()


# ---------------------------------------------------------------- the sidecar


@KUSTOMIZE
def test_the_component_adds_the_sidecar_to_argo_cds_own_manifests(
    tmp_path: Path, krm_fn: Path
) -> None:
    shutil.copy(fixtures() / "argo-cd" / "install.yaml", tmp_path / "install.yaml")
    shutil.copytree(EXAMPLE / "sidecar", tmp_path / "sidecar")
    (tmp_path / "kustomization.yaml").write_text(
        "resources: [install.yaml]\ncomponents: [sidecar]\nnamespace: argocd\n"
    )
    done = subprocess.run(
        ["kustomize", "build", str(tmp_path)], capture_output=True, text=True, check=True
    )
    objects = {
        (value["kind"], value["metadata"]["name"]): value
        for value in yaml.load_all(done.stdout, yaml.CSafeLoader)
    }
    pod = objects["Deployment", "argocd-repo-server"]["spec"]["template"]["spec"]
    (sidecar,) = (each for each in pod["containers"] if each["name"] == "krm-fn")
    volumes = {volume["name"]: volume for volume in pod["volumes"]}
    assert {mount["name"] for mount in sidecar["volumeMounts"]} <= volumes.keys()
    assert sidecar["securityContext"]["runAsUser"] == 999
    plugin = objects["ConfigMap", volumes["krm-fn-plugin"]["configMap"]["name"]]["data"]
    assert yaml.safe_load(plugin["plugin.yaml"])["kind"] == "ConfigManagementPlugin"
    rules = objects["ConfigMap", volumes["krm-fn-rules"]["configMap"]["name"]]["data"]
    assert rules["platform.yaml"] == (EXAMPLE / "sidecar/rules/platform.yaml").read_text()
