"""Compares the locks with known vulnerabilities: python tools/audit.py DATABASE [LOCK...].

DATABASE is the OSV database of PyPI as it is published (`PyPI/all.zip` of osv-vulnerabilities), or
a folder with its JSON files: a person brings it, nothing is fetched here. Exit status 1 where a
locked version is affected, 2 where the database cannot be read.
Source: the OSV schema 1.6 (https://ossf.github.io/osv-schema/), `affected`.
"""

from __future__ import annotations

import json
import re
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

LOCKS = (
    "requirements.lock",
    "requirements-runtime.lock",
    "requirements-build.lock",
    "tools/requirements.lock",
)


def locked(path: Path) -> Iterator[tuple[str, str]]:
    """(name, version) of every package of a lock."""
    for line in path.read_text().splitlines():
        match = re.match(r"([A-Za-z0-9._-]+)==([^\s;\\]+)", line)
        if match:
            yield canonicalize_name(match[1]), match[2]


def entries(database: Path) -> Iterator[dict[str, Any]]:
    """The advisories of a database. Raises OSError, ValueError and zipfile.BadZipFile."""
    if database.is_dir():
        for path in sorted(database.rglob("*.json")):
            yield json.loads(path.read_text())
        return
    with zipfile.ZipFile(database) as archive:
        for name in sorted(archive.namelist()):
            if name.endswith(".json"):
                yield json.loads(archive.read(name))


def affects(affected: dict[str, Any], version: str) -> bool:
    """Whether an `affected` of an advisory is about a version."""
    if version in affected.get("versions", ()):
        return True
    ranges = [r for r in affected.get("ranges", ()) if r.get("type") == "ECOSYSTEM"]
    return any(_in_range(one.get("events", ()), version) for one in ranges)


def _in_range(events: list[dict[str, str]], version: str) -> bool:
    here = Version(version)
    inside = False
    for event in sorted(events, key=_place):
        if "introduced" in event and here >= _version(event["introduced"]):
            inside = True
        if "fixed" in event and here >= _version(event["fixed"]):
            inside = False
        if "last_affected" in event and here > _version(event["last_affected"]):
            inside = False
    return inside


def _place(event: dict[str, str]) -> Version:
    return _version(next(iter(event.values())))


def _version(text: str) -> Version:
    try:
        return Version(text)
    except InvalidVersion:
        return Version("0")


def main(arguments: list[str]) -> int:
    if not arguments or not arguments[0]:
        print(
            "audit: no database, nothing was compared. Download PyPI/all.zip of "
            "https://osv-vulnerabilities.storage.googleapis.com and name it: make audit OSV=all.zip"
        )
        return 0
    root = Path(__file__).resolve().parents[1]
    locks = [Path(name) for name in arguments[1:]] or [root / name for name in LOCKS]
    packages: dict[str, set[tuple[str, str]]] = {}
    for lock in locks:
        for name, version in locked(lock):
            packages.setdefault(name, set()).add((version, lock.name))
    found: list[str] = []
    count = 0
    try:
        for entry in entries(Path(arguments[0])):
            count += 1
            if "withdrawn" in entry:
                continue
            for affected in entry.get("affected", ()):
                package = affected.get("package", {})
                if package.get("ecosystem") != "PyPI":
                    continue
                for version, lock in packages.get(canonicalize_name(package.get("name", "")), ()):
                    if affects(affected, version):
                        summary = " ".join(str(entry.get("summary", "")).split())
                        found.append(
                            f"{entry['id']}: {package['name']} {version} ({lock}) {summary}"
                        )
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        print(f"audit: {arguments[0]} is no OSV database: {error}", file=sys.stderr)
        return 2
    if not count:
        print(f"audit: {arguments[0]} holds no advisories", file=sys.stderr)
        return 2
    print("".join(f"{line}\n" for line in sorted(set(found))), end="")
    total = len({(name, v) for name, versions in packages.items() for v, _ in versions})
    print(f"audit: {total} packages, {count} advisories, {len(set(found))} matches")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
