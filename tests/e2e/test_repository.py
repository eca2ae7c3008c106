"""A repository as it is, beside the tools that read it, too."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from e2e_support import Shell

NAMES = [
    *("a", "b", "sub/a", "sub/b", "sub/deep/a", "plain/a", "plain/b", "plain/deep/a"),
    *("plain/deep/b", "out/a", "out/x/a"),
]
MANIFEST = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {}\n"
PACKAGE = "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: p\n"


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A package with a package in it (`sub`) and folders that are none."""
    folder = tmp_path / "p"
    for name in NAMES:
        file = folder / f"{name}.yaml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(MANIFEST.format(name.replace("/", "-")))
    (folder / "Kptfile").write_text(PACKAGE)
    (folder / "sub" / "Kptfile").write_text(PACKAGE)
    return folder


@pytest.mark.parametrize(
    "ignore",
    [
        *("a.yaml", "/a.yaml", "out/", "out", "sub", "plain/a.yaml", "deep/a.yaml", "**/deep"),
        *("plain/**", "*.yaml\n!b.yaml", "# nothing", "plain/*/a.yaml", "?.yaml\n!/a.yaml"),
    ],
)
@pytest.mark.parametrize("where", [".", "sub", "plain"])
@pytest.mark.needs("kpt")
def test_krmignore_leaves_out_what_kpt_leaves_out(
    where: str, ignore: str, package: Path, shell: Shell
) -> None:
    (package / where / ".krmignore").write_text(f"{ignore}\n")
    theirs = shell(["kpt", "fn", "eval", package, "--exec", "cat", "-o", "unwrap"])
    ours = shell(["krm-fn", "show", "-f", package])
    found = [set(re.findall(r"^  name: (\S+)$", done.out, re.M)) for done in (ours, theirs)]
    assert (ours.status, theirs.status) == (0, 0)
    assert found[0] == found[1] - {"p"}


# ------------------------------------------------------------------------------------ local-config


LOCAL = """\
apiVersion: v1
kind: Service
metadata:
  name: local
  annotations:
    config.kubernetes.io/local-config: "true"
spec: {type: NodePort, ports: [{port: 80}]}
"""
OTHER = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: other\n"
RULE = """\
apiVersion: api.kubemod.io/v1beta1
kind: ModRule
metadata:
  name: no-services
  annotations:
    config.kubernetes.io/local-config: "true"
    config.kubernetes.io/function: |
      exec: {path: krm-fn}
spec:
  type: Reject
  rejectMessage: no services
  match:
  - select: $.kind
    matchValue: Service
"""
KPTFILE = PACKAGE + "pipeline:\n  validators:\n  - exec: krm-fn\n    configPath: rule.yaml\n"
KUSTOMIZATION = "resources: [local.yaml, other.yaml]\ntransformers: [rule.yaml]\n"
CHART = "apiVersion: v2\nname: c\nversion: 0.1.0\n"
FILES = {
    "p/local.yaml": LOCAL,
    "p/other.yaml": OTHER,
    "p/rule.yaml": RULE,
    "p/Kptfile": KPTFILE,
    "k/local.yaml": LOCAL,
    "k/other.yaml": OTHER,
    "k/rule.yaml": RULE,
    "k/kustomization.yaml": KUSTOMIZATION,
    "c/Chart.yaml": CHART,
    "c/templates/local.yaml": LOCAL,
    "m/local.yaml": LOCAL,
    "m/other.yaml": OTHER,
    "rule.yaml": RULE,
    "skip.yaml": "apiVersion: krm-fn.dev/v1alpha1\nkind: Admission\nmetadata: {name: a}\n"
    "spec: {match: {localConfig: Skip}}\n",
}
POST_RENDERER = (
    "helm3 template c c --post-renderer krm-fn --post-renderer-args apply "
    "--post-renderer-args -f --post-renderer-args - --post-renderer-args -r "
    "--post-renderer-args rule.yaml"
)
COUNTED = (
    "left alone, since config.kubernetes.io/local-config keeps it out of the cluster: Service "
    "local (1); match.localConfig: Admit admits such objects"
)


@pytest.mark.parametrize(
    ("command", "status", "told"),
    [
        pytest.param(
            "kpt fn render p --allow-exec --results-dir r && cat r/results.yaml",
            0,
            COUNTED,
            id="kpt",
            marks=pytest.mark.needs("kpt"),
        ),
        pytest.param(
            "kustomize build --enable-alpha-plugins --enable-exec k",
            0,
            "name: other",
            id="kustomize",
            marks=pytest.mark.needs("kustomize"),
        ),
        pytest.param(POST_RENDERER, 1, "no services", id="Helm", marks=pytest.mark.needs("helm3")),
        pytest.param("cat m/local.yaml | krm-fn apply -r rule.yaml", 1, "no services", id="a pipe"),
        pytest.param("krm-fn check -f m -r rule.yaml", 1, "no services", id="files"),
        pytest.param(
            "krm-fn check -f m -r rule.yaml --config skip.yaml -v", 0, COUNTED, id="files, skipped"
        ),
        pytest.param(
            "cd m && krm-fn cmp generate -r ../rule.yaml",
            0,
            "1 object left out that are not for the cluster",
            id="Argo CD",
        ),
    ],
)
def test_local_config_hides_an_object_from_rules_where_it_hides_it_from_the_cluster(
    command: str, status: int, told: str, shell: Shell, tmp_path: Path
) -> None:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    done = shell(["bash", "-c", command], cwd=tmp_path)
    assert done.status == status, done.err
    assert told in " ".join((done.out + done.err).split())
