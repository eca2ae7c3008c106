"""SidecarSets in a run: what is told of them, what they do to workloads, their configuration."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from krm_fn.run.function import Done, run

SET = """
apiVersion: apps.kruise.io/v1beta1
kind: SidecarSet
metadata:
  name: logging
spec:
  selector:
    matchLabels: {app: web}
  containers:
  - name: logtail
    image: img.example/logtail:1.0
    shareVolumePolicy: {type: enabled}
    resources:
      limits: {memory: 64Mi}
"""
PATCH = f"""{SET.rstrip()}
  patchPodMetadata:
  - annotations: {{oom-score: '{{"logtail": 1}}'}}
    patchPolicy: MergePatchJson
"""
DEPLOYMENT = """
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: shop
spec:
  selector:
    matchLabels: {app: web}
  template:
    metadata:
      labels: {app: web}
    spec:
      containers:
      - name: app   # the application
        image: app:1
        volumeMounts:
        - {name: data, mountPath: /data}
      volumes:
      - {name: data, emptyDir: {}}
"""
CRON_JOB = """
apiVersion: batch/v1
kind: CronJob
metadata: {name: nightly, namespace: shop}
spec:
  schedule: '@daily'
  jobTemplate:
    metadata: {labels: {app: web}}
    spec:
      template:
        metadata: {labels: {app: web}}
        spec:
          restartPolicy: Never
          containers: [{name: app, image: a}]
"""


def resource_list(*items: str, spec: str = "podTemplates: Mutate") -> str:
    listed = "".join(
        "- " + "\n  ".join(item.strip().splitlines()).rstrip() + "\n" for item in items
    )
    options = "".join(f"    {line}\n" for line in spec.splitlines())
    return (
        f"apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n{listed}"
        f"functionConfig:\n  apiVersion: krm-fn.dev/v1alpha1\n  kind: Admission\n  spec:\n{options}"
    )


def render(*items: str, **options: str) -> Done:
    return run(resource_list(*items, **options).encode(), {})


def read(done: Done) -> Any:
    return yaml.safe_load(done.stdout)


def messages(done: Done, severity: str = "warning") -> list[str]:
    results = read(done).get("results", ())
    return [one["message"] for one in results if one["severity"] == severity]


def test_a_template_gets_its_sidecars_and_the_rest_stays() -> None:  # C2
    done = render(SET, DEPLOYMENT)
    out = done.stdout.decode()
    workload = read(done)["items"][1]
    names = [c["name"] for c in workload["spec"]["template"]["spec"]["containers"]]
    assert names == ["logtail", "app"]
    assert "- name: app   # the application" in out
    given = yaml.safe_load(DEPLOYMENT)
    assert workload["metadata"] == given["metadata"]
    assert workload["spec"]["selector"] == given["spec"]["selector"]


def test_no_defaults_are_written() -> None:
    done = render(SET, DEPLOYMENT)
    template = read(done)["items"][1]["spec"]["template"]
    assert template["spec"]["containers"][0] == {
        "name": "logtail",
        "image": "img.example/logtail:1.0",
        "env": [{"name": "IS_INJECTED", "value": "true"}],
        "resources": {"limits": {"memory": "64Mi"}},
        "volumeMounts": [{"name": "data", "mountPath": "/data"}],
    }
    assert "annotations" not in template["metadata"]


def test_a_second_run_gives_the_same_bytes() -> None:  # C13
    once = render(PATCH, DEPLOYMENT).stdout
    text = once.decode()
    again = run(text.partition("results:\n")[0].encode(), {}).stdout.decode()
    assert again.partition("results:\n")[0] == text.partition("results:\n")[0]
    assert "not idempotent" not in text


def test_a_cron_job_changes_at_the_template_of_its_pods_only() -> None:  # C4
    spec = read(render(SET, CRON_JOB))["items"][1]["spec"]
    assert "annotations" not in spec["jobTemplate"]["metadata"]
    assert len(spec["jobTemplate"]["spec"]["template"]["spec"]["containers"]) == 2


def test_templates_that_are_ignored_are_told() -> None:  # C1
    done = render(SET, DEPLOYMENT, spec="podTemplates: Ignore")
    assert "logtail" not in str(read(done)["items"][1])
    assert any("Deployment web" in text for text in messages(done, "warning"))


def test_a_set_is_no_target_of_itself() -> None:
    assert yaml.safe_load(SET) == read(render(SET, DEPLOYMENT))["items"][0]


def test_a_pod_that_is_refused_is_an_error() -> None:
    annotated = DEPLOYMENT.replace(
        "      labels: {app: web}\n    spec",
        "      labels: {app: web}\n      annotations: {oom-score: no json}\n    spec",
    )
    done = render(PATCH, annotated)
    assert done.status == 1
    text = "SidecarSet logging: annotation oom-score: Invalid JSON Document"
    assert messages(done, "error") == [text]


def test_a_second_sidecar_set_of_kruises_group_is_no_slip_of_the_pen() -> None:
    clone_set = DEPLOYMENT.replace("apps/v1", "apps.kruise.io/v1beta1").replace(
        "Deployment", "CloneSet"
    )
    containers = read(render(SET, clone_set))["items"][1]["spec"]["template"]["spec"]["containers"]
    assert containers[0]["name"] == "logtail"


# ------------------------------------------------------------------------------------ validation


def test_a_missing_list_of_annotations_is_told_once() -> None:
    second = PATCH.replace("name: logging", "name: more").replace("name: logtail", "name: two")
    found = messages(render(PATCH, second, DEPLOYMENT))
    assert len(found) == 1
    assert "kruise-system/kruise-configuration" in found[0]
    assert "refuse logging and more" in found[0]


def test_the_gate_allows_patches_without_a_list() -> None:
    spec = "podTemplates: Mutate\nsidecarSets: {metadataGate: true}"
    assert messages(render(PATCH, DEPLOYMENT, spec=spec)) == []


@pytest.mark.parametrize(("level", "said"), [("Warn", True), ("Off", False)])
def test_what_kruise_would_refuse_is_told_as_asked_for(level: str, said: bool) -> None:
    wrong = SET.replace("name: logtail", "name: Log_Tail")
    spec = f"podTemplates: Mutate\nsidecarSets: {{validation: {level}}}"
    found = messages(render(wrong, DEPLOYMENT, spec=spec))
    assert any(text.startswith("Kruise would refuse this set: spec.") for text in found) is said


def test_what_kruise_would_refuse_can_be_an_error() -> None:
    wrong = SET.replace("name: logtail", "name: Log_Tail")
    done = render(wrong, DEPLOYMENT, spec="sidecarSets: {validation: Fail}")
    assert done.status == 1
    assert not done.stdout
    assert 'SidecarSet logging: spec.containers[0].name: Invalid value: "Log_Tail"' in done.stderr


def test_what_cannot_be_read_is_always_an_error() -> None:
    wrong = SET.replace("  selector:\n    matchLabels: {app: web}", "  selector: web")
    done = render(wrong, DEPLOYMENT, spec="sidecarSets: {validation: Off}")
    assert done.status == 1
    assert "SidecarSet logging: json: cannot unmarshal string into Go struct field" in done.stderr


def test_a_policy_that_kruise_ignores_is_told() -> None:  # A53
    odd = PATCH.replace("MergePatchJson", "Replace")
    spec = "podTemplates: Mutate\nsidecarSets: {metadataGate: true}"
    text = "patchPolicy Replace is none of Retain, Overwrite, MergePatchJson: Kruise ignores the"
    assert messages(render(odd, DEPLOYMENT, spec=spec)) == [f"{text} entry"]


def test_a_set_for_a_namespace_without_pods_is_told() -> None:
    named = "  namespaceSelector:\n    matchLabels: {kubernetes.io/metadata.name: other}\n"
    pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: shop}\nspec: {}"
    done = render(SET.replace("  containers:\n", f"{named}  containers:\n", 1), pod)
    assert messages(done) == ["is for other only, and no Pod here is created there"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("{inject: Some}", "sidecarSets.inject: 'Some' is not one of All, MetadataOnly"),
        ("{bookkeping: Full}", "sidecarSets.bookkeping: unknown field; did you mean bookkeeping?"),
        ("{bookkeeping: Full}", "sidecarSets.timestamp is required with bookkeeping: Full"),
    ],
)
def test_a_wrong_option_is_an_error(options: str, said: str) -> None:
    done = render(SET, DEPLOYMENT, spec=f"sidecarSets: {options}")
    assert done.status == 1
    assert said in done.stderr


REFUSED = {
    "a word": (
        SET.replace("limits: {memory: 64Mi}", "{}").rstrip()
        + """
    resourcesPolicy:
      targetContainersMode: avg
      targetContainersNameRegex: .*
      resourcesExpr: {limits: {cpu: cpu*5%}}
""",
        'spec.containers[0].resourcesPolicy.targetContainersMode: Unsupported value: "avg": '
        'supported values: "sum", "max"',
    ),
    "a name": (SET.replace("name: logging", "name: Z"), 'metadata.name: Invalid value: "Z"'),
}


@pytest.mark.parametrize(("text", "reason"), REFUSED.values(), ids=REFUSED)
@pytest.mark.parametrize("spec", ["sidecarSets: {validation: Fail}", "strict: true"])
def test_a_set_that_the_api_server_refuses_fails(spec: str, text: str, reason: str) -> None:
    text = text.replace("    resources:\n      {}\n", "")
    done = render(text, DEPLOYMENT, spec=f"podTemplates: Mutate\n{spec}")
    assert (done.status, done.stdout) == (1, b"")
    assert reason in done.stderr


@pytest.mark.parametrize(("text", "reason"), REFUSED.values(), ids=REFUSED)
def test_a_set_that_the_api_server_refuses_is_told(text: str, reason: str) -> None:
    text = text.replace("    resources:\n      {}\n", "")
    found = messages(render(text, DEPLOYMENT))
    assert any(f"the API server would refuse this set: {reason}" in text for text in found)


UNKNOWN = SET.replace("  containers:\n", "  container: []\n  containers:\n")


def test_an_unknown_field_of_a_set_is_told() -> None:
    message = "unknown field spec.container; did you mean containers?; a cluster drops it"
    assert message in messages(render(UNKNOWN, DEPLOYMENT))


def test_an_unknown_field_of_a_set_fails_where_it_is_strict() -> None:
    done = render(UNKNOWN, DEPLOYMENT, spec="strict: true")
    assert (done.status, done.stdout) == (1, b"")
    assert "unknown field spec.container" in done.stderr


def test_the_definition_keeps_unknown_fields_of_containers_and_kruise_drops_them() -> None:
    text = SET.replace("image: img.example/logtail:1.0", "image: i\n    imagePolicy: x")
    done = render(text, DEPLOYMENT, spec="podTemplates: Mutate\nstrict: true")
    assert done.status == 0
    assert any(
        "unknown field spec.containers[0].imagePolicy" in message and "Kruise drops it" in message
        for message in messages(done)
    )
