"""Writing (docs/trust.md, section 6): whole or not at all, where the user said, and never silently.

`apply -i` and every other file that the program writes; standard streams that are closed, full or
without a reader; folders that are gone. How many runs are killed: KRM_FN_KILLS, of KRM_FN_FILES
files each (`make kill-test`).
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import resource
import signal
import stat
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from krm_fn.errors import ConfigError, KrmFnError, OutputError
from krm_fn.system import files
from krm_fn.system.files import Write, write_file, write_files

ROOT = Path(__file__).resolve().parents[2]
KILLS = int(os.environ.get("KRM_FN_KILLS", "6"))
FILES = int(os.environ.get("KRM_FN_FILES", "200"))
NOBODY = 65_534

MANIFEST = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web-{n} # number {n}
  namespace: shop
spec:
  replicas: 2
"""
RULE = """\
apiVersion: api.kubemod.io/v1beta1
kind: ModRule
metadata: {name: team, namespace: shop}
spec:
  type: Patch
  match: [{select: $.kind, matchValue: Deployment}]
  patch: [{op: add, path: /metadata/labels/team, value: shop}]
"""


def admitted(text: str) -> str:
    """What the rule makes of a manifest."""
    return text.replace("  namespace: shop\n", "  namespace: shop\n  labels:\n    team: shop\n")


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rule.yaml").write_text(RULE)
    Path("m").mkdir()
    for n in range(3):
        Path(f"m/{n}.yaml").write_text(MANIFEST.format(n=n))


def run(*arguments: str, **options: Any) -> subprocess.CompletedProcess[bytes]:
    """krm-fn as a process; without `stdout` and the like these are pipes."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.run(
        [sys.executable, "-m", "krm_fn", *arguments],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=False,
        timeout=120,
        **{**pipes, **options},
    )


def in_place(*paths: str, **options: Any) -> subprocess.CompletedProcess[bytes]:
    named = [word for path in paths or ("m",) for word in ("-f", path)]
    return run("apply", "-i", *named, "-r", "rule.yaml", **options)


def texts() -> dict[str, str]:
    """All files below `m` by name."""
    return {str(p): p.read_text() for p in sorted(Path("m").rglob("*")) if p.is_file()}


def one_sentence(done: subprocess.CompletedProcess[bytes]) -> str:
    """What was said, which is no fault of the program and no traceback."""
    said = done.stderr.decode()
    assert done.returncode not in (0, 3), said
    assert "Traceback" not in said
    assert "internal error" not in said
    assert said.startswith("error "), said
    return said.splitlines()[0]


# ----------------------------------------------------------------------------------- all or none


def limited(size: int) -> Callable[[], None]:
    """Let no file grow beyond a size, as a disk that is full does."""

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    return limit


def test_where_one_file_cannot_be_written_none_is() -> None:
    Path("m/9.yaml").write_text(MANIFEST.format(n=9) + "# " + "x" * 20_000 + "\n")
    before = texts()
    done = in_place(preexec_fn=limited(10_000))
    assert done.returncode == 4
    said = one_sentence(done)
    assert said.startswith("error m/9.yaml: cannot be written: ")
    assert said.endswith("; nothing was written")
    assert texts() == before


def test_a_file_that_may_not_be_written_keeps_all_others_as_they_are() -> None:
    with as_nobody():
        os.chmod("m/1.yaml", 0o444)
        before = texts()
        with pytest.raises(OutputError, match=r"m/1.yaml: cannot be written: Permission denied"):
            write_files([Write(name, b"new", text.encode()) for name, text in before.items()])
        assert texts() == before


def test_a_failure_between_renames_says_which_files_are_new_and_which_old(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    replace = os.replace

    def failing(source: str, target: str) -> None:
        if target == "m/1.yaml":
            raise PermissionError(1, "Operation not permitted")
        replace(source, target)

    monkeypatch.setattr(os, "replace", failing)
    with pytest.raises(OutputError) as caught:
        write_files([Write(name, b"new") for name in texts()])
    assert "nothing was written" not in "".join(caught.value.lines())
    assert caught.value.lines() == [
        "error m/1.yaml: cannot be written: Operation not permitted; "
        "of 3 files 1 are new and 2 are old",
        "  new: m/0.yaml",
        "  old: m/1.yaml",
        "  old: m/2.yaml",
    ]
    assert [text == "new" for text in texts().values()] == [True, False, False]


def test_nothing_is_left_behind_where_writing_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(source: str, target: str) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", failing)
    with pytest.raises(OutputError, match="nothing was written"):
        write_files([Write(name, b"new") for name in texts()])
    assert sorted(os.listdir("m")) == ["0.yaml", "1.yaml", "2.yaml"]


def test_a_file_that_changed_meanwhile_is_not_written_over() -> None:
    with pytest.raises(ConfigError, match=r"m/1\.yaml: has changed while"):
        write_files([Write("m/0.yaml", b"new"), Write("m/1.yaml", b"new", b"what was read")])
    assert "new" not in texts().values()


def test_a_file_that_is_named_twice_is_written_once_or_not_at_all() -> None:
    assert in_place("m/0.yaml", "./m/0.yaml").returncode == 0
    assert texts()["m/0.yaml"] == admitted(MANIFEST.format(n=0))
    with pytest.raises(ConfigError, match="is the same file as"):
        write_files([Write("m/1.yaml", b"one"), Write("./m/1.yaml", b"another")])
    assert texts()["m/1.yaml"] == MANIFEST.format(n=1)


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_while_writing_waits_until_files_are_whole_and_then_ends_the_program(
    ending: signal.Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    ends: list[int] = []
    monkeypatch.setattr(signal, "raise_signal", ends.append)
    replace = os.replace

    def interrupted(source: str, target: str) -> None:
        os.kill(os.getpid(), ending)
        replace(source, target)

    monkeypatch.setattr(os, "replace", interrupted)
    write_files([Write(name, b"new") for name in texts()])
    assert set(texts().values()) == {"new"}
    assert ends == [ending]


def test_a_signal_before_the_first_rename_leaves_all_as_it_was(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = texts()
    beside = files._create_beside

    def interrupted(path: str) -> tuple[int, str]:
        os.kill(os.getpid(), signal.SIGINT)
        return beside(path)

    monkeypatch.setattr(files, "_create_beside", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_files([Write(name, b"new") for name in before])
    assert texts() == before


def test_a_run_that_is_killed_tears_and_loses_no_file(tmp_path: Path) -> None:
    """SIGKILL at some moment of the run: while files are written beside, and while renamed."""
    folder = tmp_path / "many"
    folder.mkdir()
    old = {folder / f"{n}.yaml": MANIFEST.format(n=n) for n in range(FILES)}
    whole = {path: (text, admitted(text)) for path, text in old.items()}
    chance = random.Random(7)
    outcomes: Counter[str] = Counter()
    for n in range(KILLS):
        for path, text in old.items():
            path.write_text(text)
        killed = kill_at_some_moment(folder, chance, renaming=n % 2 == 0)
        left = {path: path.read_text() for path in folder.iterdir() if path.suffix == ".yaml"}
        assert left.keys() == old.keys()
        for path, text in left.items():
            assert text in whole[path], path
        new = sum(left[path] != old[path] for path in old)
        outcomes["none" if new == 0 else "all" if new == FILES else "some"] += 1
        assert killed or new == FILES
        for rest in folder.glob(".krm-fn-*"):
            rest.unlink()
    print(dict(outcomes))
    assert outcomes.total() == KILLS


def kill_at_some_moment(folder: Path, chance: random.Random, *, renaming: bool) -> bool:
    command = [sys.executable, "-m", "krm_fn", "apply", "-i", "-f", str(folder), "-r", "rule.yaml"]
    process = subprocess.Popen(
        command, env={**os.environ, "PYTHONPATH": str(ROOT)}, stderr=subprocess.DEVNULL
    )
    at = FILES if renaming else chance.randrange(FILES)
    delay = chance.random() * 1e-5 * FILES
    while process.poll() is None:
        if sum(name.startswith(".krm-fn-") for name in os.listdir(folder)) >= at:
            time.sleep(delay)
            process.kill()
            break
    return process.wait() == -signal.SIGKILL


# --------------------------------------------------------------------------- owner, mode, links


@contextlib.contextmanager
def as_nobody() -> Iterator[None]:
    """As a user without rights, whoever runs the tests; the folder is theirs."""
    if os.geteuid() != 0:
        yield
        return
    for path in [Path("."), *Path(".").rglob("*")]:
        os.chown(path, NOBODY, NOBODY)
    os.setegid(NOBODY)
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(0)


root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")


@root
def test_a_file_keeps_its_owner_group_and_mode() -> None:
    os.chown("m/0.yaml", 1234, 5678)
    os.chmod("m/0.yaml", 0o640)
    assert in_place().returncode == 0
    status = os.stat("m/0.yaml")
    assert (status.st_uid, status.st_gid, stat.S_IMODE(status.st_mode)) == (1234, 5678, 0o640)
    assert texts()["m/0.yaml"] == admitted(MANIFEST.format(n=0))


@root
def test_a_file_that_would_lose_its_owner_is_refused() -> None:
    before = texts()
    with as_nobody():
        os.seteuid(0)
        os.chown("m/1.yaml", 1234, NOBODY)
        os.chmod("m/1.yaml", 0o666)
        os.seteuid(NOBODY)
        with pytest.raises(ConfigError, match=r"m/1\.yaml: belongs to another user or group"):
            write_files([Write(name, b"new") for name in before])
    assert texts() == before


def test_a_file_keeps_its_extended_attributes() -> None:
    try:
        os.setxattr("m/0.yaml", "user.note", b"mine")
    except (OSError, AttributeError):
        pytest.skip("no extended attributes here")
    assert in_place().returncode == 0
    assert os.getxattr("m/0.yaml", "user.note") == b"mine"


def test_a_file_with_another_name_is_refused() -> None:
    os.link("m/1.yaml", "other.yaml")
    before = texts()
    done = in_place()
    assert done.returncode == 2
    assert one_sentence(done).startswith("error m/1.yaml: has 2 names (hard links)")
    assert texts() == before


LINKS: list[tuple[str, Sequence[str]]] = [
    ("a file", ("m/link.yaml",)),
    ("a file in a folder", ("m",)),
    ("a folder", ("linked",)),
    ("a folder above", ("linked/inner.yaml",)),
    ("an absolute path", ("{here}/linked/inner.yaml",)),
]


@pytest.mark.parametrize(("what", "paths"), LINKS, ids=[what for what, _ in LINKS])
def test_symbolic_links_are_not_followed(what: str, paths: Sequence[str], tmp_path: Path) -> None:
    outside = tmp_path.parent / f"outside-{tmp_path.name}"
    outside.mkdir()
    secret = outside / "inner.yaml"
    secret.write_text(MANIFEST.format(n=7))
    os.symlink(outside, "linked")
    if paths[0].startswith("m"):
        os.symlink(secret, "m/link.yaml")
    before = texts()
    done = in_place(*(path.format(here=tmp_path) for path in paths))
    assert "symbolic link" in one_sentence(done)
    assert secret.read_text() == MANIFEST.format(n=7)
    assert texts() == before


def test_a_link_in_the_place_of_a_report_is_not_written_through(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("mine")
    os.symlink(victim, "report.json")
    os.symlink(tmp_path, "reports")
    for place in ("report.json", "reports/new.json"):
        done = run("check", "-f", "m", "-r", "rule.yaml", "--report", f"json={place}")
        assert done.returncode == 2
        assert b"symbolic link" in done.stderr
    assert victim.read_text() == "mine"
    assert not (tmp_path / "new.json").exists()


def test_a_link_in_the_place_of_the_lock_or_the_store_is_not_written_through(
    tmp_path: Path,
) -> None:
    from krm_fn.dialects.kubewarden.store.modules import Store, write_lock

    victim = tmp_path / "victim"
    victim.mkdir()
    (victim / "lock").write_text("mine")
    os.symlink(victim / "lock", "policies.lock.json")
    os.symlink(victim, ".krm-fn")
    with pytest.raises(ConfigError, match="symbolic link"):
        write_lock("policies.lock.json", {})
    with pytest.raises(ConfigError, match="symbolic link"):
        Store(".krm-fn/modules").put(b"module")
    assert (victim / "lock").read_text() == "mine"
    assert os.listdir(victim) == ["lock"]


@pytest.mark.parametrize("place", ["report.json", "m/deep/report.json"])
def test_a_report_replaces_a_file_as_a_whole(place: str) -> None:
    Path("m/deep").mkdir()
    Path(place).write_text("x" * 100_000)
    done = run("check", "-f", "m/0.yaml", "-r", "rule.yaml", "--report", f"json={place}")
    assert done.returncode == 0
    assert json.loads(Path(place).read_text())["kind"] == "AdmissionReport"


def test_a_report_can_go_to_a_device() -> None:
    report = ("check", "-f", "m", "-r", "rule.yaml", "--report", "json=/dev/stdout")
    assert json.loads(run(*report).stdout)["kind"] == "AdmissionReport"


def test_a_report_that_cannot_be_written_is_a_sentence() -> None:
    for place in ("no/such/folder.json", "/dev/full", "m"):
        done = run("check", "-f", "m", "-r", "rule.yaml", "--report", f"json={place}")
        assert done.returncode in (2, 4)
        assert place in done.stderr.decode().splitlines()[-1]
        assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("mode", [0o022, 0o077])
def test_a_new_file_has_the_mode_that_the_user_gives_new_files(mode: int) -> None:
    before = os.umask(mode)
    try:
        write_file("new.json", b"{}")
    finally:
        os.umask(before)
    assert stat.S_IMODE(os.stat("new.json").st_mode) == 0o666 & ~mode


# ------------------------------------------------------------------------------ standard streams

FUNCTION = (
    "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems: []\nfunctionConfig:\n"
    + "".join(f"  {line}\n" for line in RULE.splitlines())
).encode()
PRINTING: list[tuple[str, ...]] = [
    ("apply", "-f", "m", "-r", "rule.yaml"),
    ("apply", "-f", "m", "-r", "rule.yaml", "-o", "json"),
    ("diff", "-f", "m", "-r", "rule.yaml"),
    ("show", "-f", "m"),
    ("version",),
    ("version", "-o", "json"),
    ("completion", "bash"),
    ("--help",),
    ("apply", "--help"),
    ("cmp", "discover"),
    ("cmp", "parameters"),
    (),
]


def status_for(arguments: tuple[str, ...]) -> int:
    """What the documentation says of output that cannot be written."""
    return 4 if arguments else 1


@pytest.mark.parametrize("arguments", PRINTING, ids=" ".join)
def test_a_full_disk_behind_standard_output_is_a_sentence(arguments: tuple[str, ...]) -> None:
    Path("kustomization.yaml").write_text("resources: [m/0.yaml]\n")
    with open("/dev/full", "wb") as full:
        done = run(*arguments, stdout=full, input=FUNCTION)
    assert done.returncode == status_for(arguments)
    last = done.stderr.decode().splitlines()[-1]
    assert last == "error cannot write standard output: No space left on device"


@pytest.mark.parametrize("arguments", PRINTING, ids=" ".join)
def test_a_closed_standard_output_is_a_sentence(arguments: tuple[str, ...]) -> None:
    Path("kustomization.yaml").write_text("resources: [m/0.yaml]\n")
    done = run(*arguments, stdout=None, preexec_fn=lambda: os.close(1), input=FUNCTION)
    assert done.returncode == status_for(arguments)
    last = done.stderr.decode().splitlines()[-1]
    assert last == "error cannot write standard output: it is closed"


@pytest.mark.parametrize("arguments", PRINTING, ids=" ".join)
def test_a_reader_that_goes_away_ends_the_program_as_it_ends_kubectl(
    arguments: tuple[str, ...],
) -> None:
    Path("kustomization.yaml").write_text("resources: [m/0.yaml]\n")
    reading, writing = os.pipe()
    os.close(reading)
    done = run(*arguments, stdout=writing, input=FUNCTION)
    os.close(writing)
    assert done.returncode == -signal.SIGPIPE
    assert b"Traceback" not in done.stderr


def test_a_shell_shows_141_where_the_reader_went_away() -> None:
    program = f"sleep 0.5; exec {sys.executable} -m krm_fn version"
    script = f"(({program}); echo $? >status) | true; cat status"
    done = subprocess.run(
        ["bash", "-c", script],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        check=False,
    )
    assert done.stdout == b"141\n"


@pytest.mark.parametrize("arguments", [(), ("apply", "-r", "rule.yaml"), ("show", "-f", "-")])
def test_a_closed_standard_input_is_a_sentence(arguments: tuple[str, ...]) -> None:
    done = run(*arguments, stdin=None, preexec_fn=lambda: os.close(0))
    assert done.returncode == 4
    assert one_sentence(done) == "error standard input: is closed"


def test_a_closed_standard_error_loses_words_and_nothing_else() -> None:
    command = ("apply", "-f", "m", "-r", "rule.yaml")
    done = run(*command, stderr=None, preexec_fn=lambda: os.close(2))
    assert done.returncode == 0
    assert done.stdout == run(*command).stdout


def test_words_that_a_full_disk_loses_are_no_success() -> None:
    with open("/dev/full", "wb") as full:
        done = run("check", "-f", "m", "-r", "rule.yaml", stderr=full)
    assert done.returncode == 4


# ------------------------------------------------------------------------------- the surroundings


@pytest.mark.parametrize(
    "arguments",
    [
        ("check", "-f", "m", "-r", "rule.yaml"),
        ("apply", "-f", ".", "-r", "."),
        ("show", "-f", "m"),
        ("lint", "rules"),
        ("cmp", "generate"),
        ("cmp", "generate", "-r", "rule.yaml"),
        ("apply", "-k", ".", "-r", "rule.yaml"),
        ("check", "--config", "c.yaml"),
    ],
    ids=" ".join,
)
def test_a_working_directory_that_is_gone_is_a_sentence(arguments: tuple[str, ...]) -> None:
    Path("gone").mkdir()

    def leave() -> None:
        os.chdir("gone")
        os.rmdir(os.getcwd())

    one_sentence(run(*arguments, preexec_fn=leave))


def test_what_needs_no_working_directory_works_where_it_is_gone() -> None:
    Path("gone").mkdir()

    def leave() -> None:
        os.chdir("gone")
        os.rmdir(os.getcwd())

    done = run(input=FUNCTION, preexec_fn=leave)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-16"])
def test_words_are_utf_8_whatever_the_locale_says(
    encoding: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONIOENCODING", encoding)
    Path("m/0.yaml").write_text(MANIFEST.format(n="\u00e9\u2192") + "bad: 1\n")
    for command in ("check", "diff", "show"):
        rules = () if command == "show" else ("-r", "rule.yaml")
        done = run(command, "-f", "m", *rules)
        assert done.returncode in (0, 1), done.stderr
        assert "\u00e9\u2192" in (done.stdout + done.stderr).decode("utf-8")


def test_what_the_machine_refuses_is_no_fault_of_the_program(
    capsys: pytest.CaptureFixture[str],
) -> None:
    from krm_fn.__main__ import guarded

    def without_memory() -> int:
        raise MemoryError

    def without_descriptors() -> int:
        raise OSError(24, "Too many open files", "m/0.yaml")

    assert guarded(without_memory) == 4
    assert guarded(without_descriptors) == 4
    assert capsys.readouterr().err.splitlines() == [
        "error there is not enough memory",
        "error m/0.yaml: Too many open files",
    ]


def test_errors_have_the_status_that_is_documented() -> None:
    from krm_fn.cli.status import status_of

    assert status_of(OutputError("x")) == 4
    assert status_of(ConfigError("x")) == 2
    assert status_of(KrmFnError("x")) == 1
