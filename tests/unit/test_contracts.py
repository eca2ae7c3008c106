"""The contracts of imports in pyproject.toml bite: each fails where one import breaks it.

A copy of the package gets one import that is forbidden, and lint-imports names the contract.
"""

from __future__ import annotations

import fnmatch
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "krm_fn"
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
CONTRACTS = {contract["name"]: contract for contract in SETTINGS["contracts"]}

pytestmark = pytest.mark.skipif(
    not (Path(sys.executable).parent / "lint-imports").exists(),
    reason="import-linter is not installed",
)


def modules() -> list[str]:
    """All modules and packages by their names."""
    names = []
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        names.append(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
    return names


def file_of(module: str) -> Path:
    """Where a module stands, relative to the root."""
    path = Path(*module.split("."))
    return path / "__init__.py" if (ROOT / path).is_dir() else path.with_suffix(".py")


def forbidden(contract: dict[str, Any]) -> tuple[str, str]:
    """(importing module, imported module) of an import that the contract forbids."""
    match contract["type"]:
        case "forbidden":
            return contract["source_modules"][-1], contract["forbidden_modules"][0]
        case "independence":
            first, second = [
                name
                for pattern in contract["modules"]
                for name in modules()
                if fnmatch.fnmatch(name, pattern) and name.count(".") == pattern.count(".")
            ][:2]
            return first, second
        case _:
            (container,) = contract.get("containers", [""])
            highest, lowest = contract["layers"][0], contract["layers"][-1]
            # A layer of siblings may stand anywhere: its first module is as good as any.
            names = [layer.split(" | ")[0] for layer in (lowest, highest)]
            lower, upper = [f"{container}.{name}" if container else name for name in names]
            return lower, upper


def lint(folder: Path, contract: dict[str, Any]) -> str:
    """What lint-imports says of the copy in a folder, asked for one contract."""
    text = ["[tool.importlinter]", 'root_packages = ["krm_fn"]', "[[tool.importlinter.contracts]]"]
    text += [f"{key} = {_toml(value)}" for key, value in contract.items()]
    (folder / "pyproject.toml").write_text("\n".join(text))
    done = subprocess.run(
        [Path(sys.executable).parent / "lint-imports", "--no-logo", "--no-cache"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder), "COLUMNS": "500"},
        capture_output=True,
        text=True,
        check=False,
    )
    return re.sub(r"\s+", " ", done.stdout)


def _toml(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else repr(value)


@pytest.mark.parametrize("name", CONTRACTS)
def test_a_forbidden_import_breaks_the_contract(name: str, tmp_path: Path) -> None:
    contract = CONTRACTS[name]
    shutil.copytree(PACKAGE, tmp_path / "krm_fn", ignore=shutil.ignore_patterns("*.bin", "*.pyc"))
    importing, imported = forbidden(contract)
    path = tmp_path / file_of(importing)
    with path.open("a") as file:
        file.write(f"\nimport {imported}\n")
    said = lint(tmp_path, contract)
    assert f"{name} BROKEN" in said, said
    assert f"{importing} -> {imported}" in said or f"{importing} is not allowed" in said, said


def test_what_cel_may_import_is_said_module_by_module() -> None:
    """A module that is new is neither forbidden nor allowed before somebody decides."""
    (contract,) = (one for one in CONTRACTS.values() if one["type"] == "forbidden")
    allowed = {
        "krm_fn.__main__",
        "krm_fn.errors",
        "krm_fn.kube.cel",
        "krm_fn.kube.quantity",
        "krm_fn.kube.validation.names",
        "krm_fn.lang.cel",
        "krm_fn.lang.go",
        "krm_fn.lang.nodes",
        "krm_fn.limits",
        "krm_fn.work",
    }
    known = allowed | set(contract["forbidden_modules"])
    undecided = [
        name
        for name in modules()
        if not any(name == one or name.startswith(f"{one}.") for one in known)
        and not any(one.startswith(f"{name}.") for one in known)
    ]
    assert undecided == []
