"""Time of a suite of 200 cases over one directory of rules, start-up included, on one core.

    python benchmarks/suites.py

Source: docs/spec/test.md section 6.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
from pathlib import Path

CASES = 200
RULES = 10
BOUND = 1.5
ROOT = Path(__file__).resolve().parents[1]


def rules() -> str:
    """Half ModRules and half ValidatingAdmissionPolicies, each about Deployments."""
    documents = []
    for n in range(RULES // 2):
        documents.append(
            "apiVersion: api.kubemod.io/v1beta1\nkind: ModRule\n"
            f"metadata: {{name: label-{n}, namespace: shop}}\nspec:\n  type: Patch\n"
            "  match: [{select: $.kind, matchValue: Deployment}]\n"
            f"  patch: [{{op: add, path: /metadata/labels/label-{n}, value: shop}}]\n"
        )
        documents.append(
            "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\n"
            f"metadata: {{name: replicas-{n}}}\nspec:\n  matchConstraints:\n    resourceRules:\n"
            "    - {apiGroups: [apps], apiVersions: [v1], operations: [CREATE, UPDATE], "
            "resources: [deployments]}\n"
            f"  validations: [{{expression: object.spec.replicas < {100 + n}}}]\n"
            "---\napiVersion: admissionregistration.k8s.io/v1\n"
            f"kind: ValidatingAdmissionPolicyBinding\nmetadata: {{name: replicas-{n}}}\n"
            f"spec: {{policyName: replicas-{n}, validationActions: [Deny]}}\n"
        )
    return "---\n".join(documents)


def suite() -> str:
    """The cases: each its own Deployment, every tenth refused."""
    text = (
        "apiVersion: krm-fn.dev/v1alpha1\nkind: Suite\nmetadata: {name: many}\n"
        "spec:\n  rules: [rules/]\n  cases:\n"
    )
    for n in range(CASES):
        replicas, outcome = (500, "Denied") if n % 10 == 0 else (n % 50, "Changed")
        text += (
            f"  - name: case {n}\n    object:\n      inline: |\n"
            "        apiVersion: apps/v1\n        kind: Deployment\n"
            f"        metadata: {{name: web-{n}, namespace: shop}}\n"
            f"        spec: {{replicas: {replicas}, selector: {{matchLabels: {{app: web}}}}, "
            "template: {metadata: {labels: {app: web}}, "
            "spec: {containers: [{name: web, image: web}]}}}\n"
            f"    expect: {{outcome: {outcome}}}\n"
        )
    return text


def main() -> None:
    """Run the suite in a process of its own, and print the CPU time that it took."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "rules").mkdir()
        (folder / "rules" / "rules.yaml").write_text(rules())
        (folder / "krm-fn-test.yaml").write_text(suite())
        command = [sys.executable, "-m", "krm_fn", "test", name]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(done.stdout.splitlines()[-1], done.stderr, end="\n")
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(f"{CASES} cases, {RULES} rules: {seconds:.2f} s of CPU (bound: {BOUND} s)")
    sys.exit(done.returncode or seconds > BOUND)


if __name__ == "__main__":
    main()
