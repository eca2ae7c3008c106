"""Saying (docs/trust.md, section 5): nothing that is said leaks a Secret or forges a line.

Every form of a Secret goes through every way to say something about it; every text of an author
goes where a terminal, a build log or the summary of a pull request could take it for more.
"""

from __future__ import annotations

import ast
import base64
import hashlib
import json
import os
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest
from in_process import run

from krm_fn.__main__ import fault
from krm_fn.printable import json_text, log_line, one_line, visible
from krm_fn.report import redact
from krm_fn.report.redact import Redactor
from krm_fn.wire import read_stream

ROOT = Path(__file__).resolve().parents[2]
VALUE = "hunter2-Tr0ub4dor"
ENCODED = base64.b64encode(VALUE.encode()).decode()


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("m").mkdir()


# ---------------------------------------------------------------------------------- nothing leaks

SECRET = "apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: shop, labels: {a: b}}\n"
FORMS = {
    "data": f"data: {{password: {ENCODED}}}\n",
    "text": f"stringData: {{password: {VALUE}}}\n",
    "block": f"stringData:\n  password: |\n    {VALUE}\n    more\n",
    "other case": f"Data: {{password: {ENCODED}}}\nstringdata: {{password: {VALUE}}}\n",
    "no base64": f"data: {{password: {VALUE}}}\n",
    "a list": f"data: [{VALUE}]\nstringData: [{{a: {VALUE}}}]\n",
    "a text": f"data: {VALUE}\n",
    "nested": f"stringData: {{password: {{a: [{VALUE}]}}}}\n",
    "a wrong type": f"type: 5\nstringData: {{password: {VALUE}, n: 12, b: [true]}}\n",
    "an alias to nothing": f"stringData: {{password: *{VALUE}}}\n",
    "an anchor": f"stringData: {{password: &x {VALUE}, again: *x}}\n",
    "a tag": f"stringData: {{password: !!int {VALUE}}}\n",
    "a bad tag": f"stringData: {{password: !!binary {VALUE}}}\n",
    "a float": f"stringData: {{password: !!float {VALUE}}}\n",
    "an own tag": f"stringData: {{password: !x {VALUE}}}\n",
    "a merge": f"stringData: {{<<: {VALUE}}}\n",
    "twice": f"stringData: {{password: {VALUE}, password: {VALUE}}}\n",
    "cut off": f"stringData: {{password: {VALUE}\n",
    "a bad quote": f"stringData: {{password: '{VALUE}}}\n",
    "a bad escape": f'stringData: {{password: "\\q{VALUE}"}}\n',
    "a tab": f"stringData:\n\tpassword: {VALUE}\n",
    "two colons": f"stringData:\n  password: {VALUE}: {VALUE}\n",
    "a comment": f"stringData: {{password: {VALUE}}} # was {VALUE}\n",
    "last applied": "stringData: {password: x}\n".replace("x", VALUE),
    "a number": "stringData: {password: 8675309424}\n",
}
"""What stands in a Secret, well-formed or not."""

QUOTING = """\
apiVersion: api.kubemod.io/v1beta1
kind: ModRule
metadata: {name: quote, namespace: shop}
spec:
  type: Reject
  rejectMessage: 'it is {{ .Target.data }} {{ .Target.stringData }} {{ toJson .Target }}'
  match: [{select: $.kind, matchValue: Secret}]
"""
CHANGING = """\
apiVersion: api.kubemod.io/v1beta1
kind: ModRule
metadata: {name: change, namespace: shop}
spec:
  type: Patch
  match: [{select: $.kind, matchValue: Secret}]
  patch:
  - {op: add, path: /metadata/labels/x, value: done}
  - {op: add, path: /data/copy, value: '{{ .Target.data.password }}'}
"""
VALIDATING = """\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: cel}
spec:
  failurePolicy: Fail
  matchConstraints:
    resourceRules:
    - {apiGroups: [""], apiVersions: [v1], resources: [secrets], operations: [CREATE]}
  validations:
  - expression: "false"
    messageExpression: >-
      'weak: ' + object.data.password + ' ' + object.data.password.upperAscii() + ' ' +
      object.data.password.substring(3)
  - expression: "int(object.data.password) > 0"
  auditAnnotations: [{key: k, valueExpression: "'is ' + object.data.password"}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: cel}
spec: {policyName: cel, validationActions: [Deny, Audit]}
"""
RULES = {"quoting": QUOTING, "changing": CHANGING, "validating": VALIDATING}


def traces(text: str) -> list[str]:
    """What could tell the value: it, its parts and what stands for it."""
    wanted = [VALUE, VALUE[:8], VALUE[-8:], ENCODED.rstrip("="), "8675309424"]
    return [trace for trace in wanted if trace.lower() in text.lower()]


def said_of(rule: str) -> Iterator[tuple[str, str]]:
    """Everything that the program says of the manifests in `m`, by who says it."""
    Path("rule.yaml").write_text(rule)
    for command in ("check", "diff", "lint"):
        rules = ("rule.yaml", "-f", "m") if command == "lint" else ("-f", "m", "-r", "rule.yaml")
        more = () if command == "lint" else ("-v",)
        done = run(command, *rules, *more)
        assert done.returncode in (0, 1, 2, 4, 5), done.stderr
        yield command, done.stdout + done.stderr
    for more in (("-v",), ("-v", "-o", "json"), ("--changes",), ("--field", "data")):
        done = run("explain", "-f", "m", "-r", "rule.yaml", *more)
        assert done.returncode in (0, 2, 4), done.stderr
        yield f"explain {' '.join(more)}", done.stdout + done.stderr
    done = run("diff", "--blame=always", "-f", "m", "-r", "rule.yaml")
    yield "diff --blame", done.stdout + done.stderr
    for strict in ((), ("--strict",)):
        done = run("show", "-f", "m", *strict)
        yield "show", done.stdout + done.stderr
    for report in ("text", "json", "github", "gitlab"):
        run("check", "-f", "m", "-r", "rule.yaml", "--report", f"{report}=report")
        if Path("report").exists():
            yield report, Path("report").read_text()
            Path("report").unlink()
    done = run("cmp", "generate", "-r", "../rule.yaml", ARGOCD_APP_NAMESPACE="shop")
    yield "cmp", done.stderr


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("form", FORMS)
def test_no_form_of_a_secret_is_in_what_is_said_of_it(form: str, rule: str) -> None:
    Path("m/s.yaml").write_text(SECRET + FORMS[form])
    Path("m/other.yaml").write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n")
    for who, text in said_of(RULES[rule]):
        assert "internal error" not in text
        assert traces(text) == [], f"{who}: {text}"


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("form", FORMS)
def test_no_form_of_a_secret_is_in_results(form: str, rule: str) -> None:
    item = "".join(f"  {line}\n" for line in (SECRET + FORMS[form]).splitlines())
    inline = "".join(f"        {line}\n" for line in RULES[rule].splitlines())
    done = run(
        stdin=(
            "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\n"
            f"items:\n- {item.lstrip()}"
            "functionConfig:\n  apiVersion: krm-fn.dev/v1alpha1\n  kind: Admission\n"
            f"  metadata: {{name: a}}\n  spec:\n    rules:\n    - inline: |\n{inline}"
        ).encode()
    )
    assert done.returncode in (0, 1), done.stderr
    results = done.stdout.partition("\nresults:\n")[2]
    assert traces(done.stderr + results) == []


DERIVED = {
    "upper case": VALUE.upper(),
    "a part": VALUE[2:10],
    "the first characters": VALUE[:4],
    "trimmed padding": ENCODED.rstrip("="),
    "base64 for URLs": base64.urlsafe_b64encode(VALUE.encode()).decode(),
    "base32": base64.b32encode(VALUE.encode()).decode(),
    "base64 twice": base64.b64encode(ENCODED.encode()).decode(),
    "hexadecimal": VALUE.encode().hex(),
    "reversed": VALUE[::-1],
    "sha256": hashlib.sha256(VALUE.encode()).hexdigest(),
    "sha1": hashlib.sha1(VALUE.encode()).hexdigest(),
    "md5 of what is encoded": hashlib.md5(ENCODED.encode()).hexdigest(),
    "in a URL": f"postgres://user:{VALUE}@db/shop",
    "in JSON": json.dumps({"password": VALUE}),
    "split": " ".join(VALUE.split("-")),
}


@pytest.mark.parametrize("how", DERIVED)
def test_what_is_derived_from_a_secret_is_hidden_in_a_message(how: str) -> None:
    stream = read_stream((SECRET + FORMS["data"]).encode(), "s.yaml")
    message = Redactor(stream.items).message(f"found [{DERIVED[how]}] here", stream.items[0])
    assert "(redacted)" in message
    left = message.replace("(redacted)", "")
    assert traces(left) == []
    assert DERIVED[how] not in left


@pytest.mark.parametrize("value", ["x1", "abc", "7", "no"])
def test_short_values_are_hidden_where_they_stand_alone(value: str) -> None:
    stream = read_stream(f"{SECRET}stringData: {{pin: '{value}'}}\n".encode(), "s.yaml")
    said = Redactor(stream.items).message(f'the pin "{value}" is too short', stream.items[0])
    assert said == 'the pin "(redacted)" is too short'


def test_what_a_rule_writes_into_a_secret_is_shown_only_if_the_rule_says_it() -> None:
    Path("m/s.yaml").write_text(SECRET + FORMS["data"])
    Path("rule.yaml").write_text(
        QUOTING.split("spec:")[0]
        + "spec:\n  type: Patch\n  match: [{select: $.kind, matchValue: Secret}]\n  patch:\n"
        "  - {op: add, path: /metadata/labels/team, value: shop-team}\n"
        "  - {op: add, path: /metadata/labels/of, "
        "value: '{{ .Target.data.password | b64dec | swapcase | trunc 6 | nospace }}'}\n"
    )
    done = run("check", "-f", "m", "-r", "rule.yaml", "--report", "json=report")
    assert done.returncode == 0, done.stderr
    results = json.loads(Path("report").read_text())["results"]
    shown = {r["field"]["path"]: r["field"].get("proposedValue") for r in results if "field" in r}
    assert shown["metadata.labels.team"] == "shop-team"
    assert shown["metadata.labels.of"] == "(redacted)"


def test_a_policy_that_reads_a_secret_as_its_params_tells_it_of_no_other_object() -> None:
    Path("m/c.yaml").write_text(
        f"{SECRET}stringData: {{password: {VALUE}}}\n---\n"
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: shop}\n"
    )
    Path("rule.yaml").write_text(
        VALIDATING.replace("resources: [secrets]", "resources: [configmaps]")
        .replace("failurePolicy: Fail\n", "paramKind: {apiVersion: v1, kind: Secret}\n")
        .replace("object.data.password", "params.data.password")
        .replace(
            "validationActions",
            "paramRef: {name: s, namespace: shop, parameterNotFoundAction: Deny}, "
            "validationActions",
        )
    )
    done = run("check", "-f", "m", "-r", "rule.yaml", "-v")
    assert done.returncode == 1
    assert "weak: (redacted)" in done.stderr
    assert traces(done.stderr) == []


def test_a_diff_hides_what_changes_and_says_that_it_does() -> None:
    Path("m/s.yaml").write_text(
        f"{SECRET}stringData:\n  password: {VALUE} # once {VALUE}\n  other: x\n"
    )
    Path("rule.yaml").write_text(
        CHANGING.replace("path: /data/copy", "path: /stringData/password").replace(
            "'{{ .Target.data.password }}'", "'new-{{ .Target.stringData.password }}'"
        )
    )
    done = run("diff", "-f", "m", "-r", "rule.yaml", "--object-form", "AsWritten")
    assert done.returncode == 1, done.stderr
    assert traces(done.stdout) == []
    assert "+    x: done" in done.stdout or "x: done" in done.stdout


def test_a_change_that_is_hidden_is_a_change() -> None:
    applied = "kubectl.kubernetes.io/last-applied-configuration"
    Path("m/s.yaml").write_text(
        f"{SECRET.replace('labels: {a: b}', f'annotations: {{{applied}: {VALUE}}}')}"
    )
    Path("rule.yaml").write_text(
        CHANGING.split("  - {op: add, path: /metadata/labels")[0]
        + f"  - {{op: replace, path: /metadata/annotations/{applied.replace('/', '~1')},"
        " value: new}\n"
    )
    done = run("diff", "-f", "m", "-r", "rule.yaml")
    assert done.returncode == 1, done.stderr
    assert traces(done.stdout + done.stderr) == []


def test_a_diff_hides_a_secret_that_nobody_can_read() -> None:
    Path("m/s.yaml").write_text(
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\n  namespace: shop\n---\n"
        f"{SECRET}stringData:\n  password: !!int {VALUE}\n"
    )
    Path("rule.yaml").write_text(
        CHANGING.replace("Secret", "ConfigMap").split("  - {op: add, path: /data")[0]
    )
    done = run("diff", "-f", "m", "-r", "rule.yaml")
    assert done.returncode in (1, 4)
    assert traces(done.stdout + done.stderr) == []


def test_looking_for_values_takes_no_more_than_so_many_comparisons(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Values that start alike, in a text that holds many starts: the rest is left out."""
    monkeypatch.setattr(redact, "_COMPARISONS", 10_000)
    values = "".join(f"  k{n}: {'-a' * (n + 3)}\n" for n in range(500))
    stream = read_stream(f"{SECRET}stringData:\n{values}".encode(), "s.yaml")
    hider = Redactor(stream.items)
    assert hider.message(f"is {'-a' * 4} it", None, asks=True) == "is (redacted) it"
    assert hider.message("-a" * 2_000 + " z", None, asks=True) == "(redacted)"


def test_results_of_a_function_of_ones_own_are_one_line_each() -> None:
    from krm_fn.sdk import Field, File, ResourceRef, Result, Severity

    evil = "x\x1b[31m\n\u202ey"
    result = Result(
        evil,
        Severity.ERROR,
        ResourceRef("v1", evil, evil, evil),
        Field(evil),
        File(evil),
        {"rule": evil},
    )
    assert unsafe(json.dumps(result.to_json(), ensure_ascii=False)) == []
    assert "\\n" not in json.dumps(result.to_json()).replace("\\\\n", "")


def test_a_fault_of_the_program_quotes_nothing() -> None:
    assert traces(fault(KeyError(VALUE))) == []


# --------------------------------------------------------------------------------- nothing forges

EVIL = {
    "a line": "x\nerror v1/Secret forged: all is well",
    "a carriage return": "x\rerror forged",
    "colour": "x\x1b[2K\x1b[1Aforged",
    "a title": "x\x1b]0;forged\x07",
    "C1": "x\x9b2Kforged",
    "another line": "x\u2028error forged\u0085error forged",
    "right to left": "x\u202edegrof\u202c",
    "isolates": "x\u2066forged\u2069",
    "nothing to see": "x\u200b\u2060\ufeff\U000e0041",
    "a command": "x\n::error title=krm-fn::forged",
    "a command in one line": "::stop-commands::forged",
    "an old command": "x ##[error]forged",
    "a section": "x\nsection_start:1:forged[collapsed=true]\r\x1b[0Kforged",
    "Markdown": "x\n```\n# forged",
    "backticks": "x ``` forged",
    "a tab": "x\tforged",
}


def unsafe(text: str) -> list[str]:
    """The characters that a terminal or a log takes for more than text."""
    return sorted(
        {
            char
            for char in text
            if char != "\n" and unicodedata.category(char) in ("Cc", "Cf", "Zl", "Zp", "Cs")
        }
    )


def forged(text: str) -> list[str]:
    """The lines that the program did not mean to say."""
    return [
        line
        for line in text.splitlines()
        if line.lstrip().startswith(
            ("error forged", "error v1/Secret forged", "section_", "# forged")
        )
        or line.strip().startswith(("::error title=krm-fn::forged", "::stop-commands", "```"))
        or "##[error]" in line
    ]


def places(text: str) -> Iterator[tuple[str, str]]:
    """Manifests that hold a text where it can get into what is said."""
    quoted = json.dumps(text)
    head = "apiVersion: v1\nkind: Secret\n"
    yield "name", f"{head}metadata: {{name: {quoted}, namespace: shop}}\n"
    yield "namespace", f"{head}metadata: {{name: s, namespace: {quoted}}}\n"
    yield "a key", f"{head}metadata: {{name: s, namespace: shop}}\n{quoted}: 1\n"
    yield "a label", f"{head}metadata: {{name: s, namespace: shop, labels: {{a: {quoted}}}}}\n"
    yield "kind", f"apiVersion: v1\nkind: {quoted}\nmetadata: {{name: s, namespace: shop}}\n"
    yield "version", f"apiVersion: {quoted}\nkind: Secret\nmetadata: {{name: s}}\n"
    path = "internal.config.kubernetes.io/path"
    yield (
        "a path",
        f"{head}metadata: {{name: s, namespace: shop, annotations: {{{path}: {quoted}}}}}\n",
    )
    yield (
        "an origin",
        f"{head}metadata: {{name: s, namespace: shop, annotations: {{"
        f"config.kubernetes.io/origin: {json.dumps('path: ' + text)}}}}}\n",
    )


TELLING = """\
apiVersion: api.kubemod.io/v1beta1
kind: ModRule
metadata: {name: tell, namespace: kubemod-system}
spec:
  targetNamespaceRegex: .*
  type: Reject
  rejectMessage: 'no {{ .Target.metadata.name }} {{ .Target.metadata.labels }} {{ .Target.kind }}'
  match: [{select: $.metadata}]
"""


@pytest.mark.parametrize("what", EVIL)
def test_no_text_of_an_author_is_more_than_text_in_a_log(what: str) -> None:
    Path("rule.yaml").write_text(TELLING)
    for place, manifest in places(EVIL[what]):
        Path("m/x.yaml").write_text(manifest)
        for arguments in (
            ("check", "-f", "m", "-r", "rule.yaml", "-v"),
            ("check", "-f", "m", "-r", "rule.yaml", "--strict", "--report", "text=told"),
            ("check", "-f", "m", "-r", "rule.yaml", "-q", "--report", "github"),
            ("check", "-f", "m", "-r", "rule.yaml", "-q", "--report", "json"),
            ("check", "-f", "m", "-r", "rule.yaml", "-q", "--report", "gitlab"),
            ("lint", "rule.yaml", "-f", "m"),
            ("cmp", "generate", "-r", "rule.yaml", "--kustomize-option", "x"),
            ("check", "-f", "m", "-r", "m"),
        ):
            done = run(*arguments)
            assert done.returncode in (0, 1, 2, 4), done.stderr
            told = Path("told").read_text() if Path("told").exists() else ""
            for text in (done.stderr, done.stdout, told):
                assert unsafe(text) == [], (place, arguments, text)
                assert forged(text) == [], (place, arguments, text)
                if "--report" not in arguments or told:
                    assert "`" not in text, (place, arguments, text)


@pytest.mark.parametrize("what", EVIL)
def test_no_text_of_an_author_is_more_than_text_in_results(what: str) -> None:
    """Kpt and kustomize print messages, names and paths of results as they are."""
    rule = "".join(f"  {line}\n" for line in TELLING.splitlines())
    for place, manifest in places(EVIL[what]):
        item = "".join(f"  {line}\n" for line in manifest.splitlines())
        done = run(
            stdin=(
                "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\n"
                f"items:\n- {item.lstrip()}functionConfig:\n{rule}"
            ).encode()
        )
        assert done.returncode in (0, 1), done.stderr
        assert unsafe(done.stderr) == [], place
        assert forged(done.stderr) == [], place
        if not done.stdout:
            continue
        stream = read_stream(done.stdout.encode())
        for result in stream_results(done.stdout):
            ref, field = result.get("resourceRef", {}), result.get("field", {})
            texts = [result["message"], *ref.values(), field.get("path", "")]
            texts += [*result.get("file", {}).values(), *result.get("tags", {}).values()]
            for text in texts:
                assert unsafe(str(text)) == [], (place, text)
                assert "\n" not in str(text), (place, text)
        assert stream.items


def stream_results(text: str) -> list[dict[str, object]]:
    import yaml

    return list(yaml.safe_load(text).get("results", []))


@pytest.mark.parametrize("what", [w for w in EVIL if "/" not in EVIL[w]])
def test_a_file_name_is_no_more_than_text(what: str) -> None:
    Path("rule.yaml").write_text(TELLING)
    name = EVIL[what].replace("/", "_")
    Path(f"m/{name}.yaml").write_text("apiVersion: v1\nkind: Secret\nmetadata: {name: s}\n")
    for arguments in (
        ("check", "-f", "m", "-r", "rule.yaml"),
        ("check", "-f", "m", "-r", "rule.yaml", "-q", "--report", "github"),
        ("diff", "-f", "m", "-r", "rule.yaml"),
        ("check", "-f", "m", "-r", f"m/{name}.yaml"),
        ("check", "-f", f"m/{name}", "-r", "rule.yaml"),
        ("check", f"--{name}"),
        (name,),
    ):
        done = run(*arguments)
        assert done.returncode in (0, 1, 2, 4, 5)
        assert unsafe(done.stdout + done.stderr) == [], arguments
        assert forged(done.stdout + done.stderr) == [], arguments


def test_a_file_name_that_is_not_utf_8_is_shown_with_its_bytes() -> None:
    Path("rule.yaml").write_text(TELLING)
    name = os.fsdecode(b"m/\xff\xfe.yaml")
    Path(name).write_text("apiVersion: v1\nkind: Secret\nmetadata: {name: s}\n")
    for command in ("check", "diff", "apply"):
        for report in ("json", "github", "gitlab", "text"):
            done = run(command, "-f", "m", "-r", "rule.yaml", "--report", f"{report}=report")
            assert done.returncode in (1, 5), done.stderr
            assert "m/\\xff\\xfe.yaml" in done.stderr
    Path(name).write_text("apiVersion: v1\nkind: [\n")
    assert run("check", "-f", "m", "-r", "rule.yaml").stderr.startswith(
        "error m/\\xff\\xfe.yaml:3:"
    )


def test_a_diff_shows_lines_of_a_manifest_and_gives_no_commands() -> None:
    Path("rule.yaml").write_text(CHANGING.split("  - {op: add, path: /data")[0])
    Path("m/s.yaml").write_text(
        "apiVersion: v1\nkind: Secret\nmetadata:\n  name: s\n  namespace: shop\n  labels:\n"
        "    a: b\n  annotations:\n    a: |\n      ::stop-commands::x\n      ##[error]x\n"
        "      \u202eover\u202c next\n"
    )
    done = run("diff", "-f", "m", "-r", "rule.yaml")
    assert done.returncode == 1
    assert unsafe(done.stdout) == []
    assert forged(done.stdout) == []
    assert "\\x3a:stop-commands::x" in done.stdout


def test_json_says_the_same_with_nothing_invisible() -> None:
    document = {"\u202e": ["\x1b", "\u2028", "\x85", "é", "\ufeff", "\U000e0041"]}
    text = json_text(document)
    assert json.loads(text) == document
    assert unsafe(text) == []


def test_every_character_that_is_no_text_is_escaped() -> None:
    for code in range(0x110000):
        char = chr(code)
        if unicodedata.category(char) in ("Cc", "Cf", "Zl", "Zp", "Cs"):
            assert unsafe(one_line(char)) == [], hex(code)
            assert "\n" not in one_line(char)
            assert unsafe(visible(char).replace("\t", "")) == [], hex(code)


def test_what_is_shown_stays_what_it_is_when_it_is_shown_again() -> None:
    for text in EVIL.values():
        shown = log_line(one_line(text))
        assert log_line(one_line(shown)) == shown


# ------------------------------------------------------------------------------ nobody can forget

SPEAKING = ("print", "echo", "secho", "excepthook")


def test_no_module_but_one_speaks_to_a_terminal() -> None:
    """Standard output and standard error belong to `krm_fn.system.streams`."""
    allowed = {"krm_fn/system/streams.py", "krm_fn/dialects/kubewarden/runtime/compile_child.py"}
    wrong = []
    for path in sorted((ROOT / "krm_fn").rglob("*.py")):
        name = str(path.relative_to(ROOT))
        if name in allowed:
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Attribute) and node.attr in ("stdout", "stderr", "__stderr__"):
                base = node.value
                if isinstance(base, ast.Name) and base.id == "sys":
                    wrong.append(f"{name}:{node.lineno}: sys.{node.attr}")
            if isinstance(node, ast.Call):
                called = node.func
                word = called.id if isinstance(called, ast.Name) else getattr(called, "attr", "")
                if word in SPEAKING:
                    wrong.append(f"{name}:{node.lineno}: {word}()")
    assert wrong == []


def test_every_form_of_a_report_is_made_of_statements() -> None:
    """Findings and changes hold texts as rules and authors wrote them; two modules read these.

    What an explanation shows, it takes through `statements.shown`.
    """
    reading = {
        "krm_fn/report/explanation.py",
        "krm_fn/report/model.py",
        "krm_fn/report/statements.py",
    }
    wrong = []
    for path in sorted((ROOT / "krm_fn" / "report").rglob("*.py")):
        name = str(path.relative_to(ROOT))
        if name in reading:
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Attribute) and node.attr in ("all_findings", "findings"):
                wrong.append(f"{name}:{node.lineno}")
    assert wrong == []
