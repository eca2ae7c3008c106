"""What docstrings name as their source is there: each page of docs/spec, and each section."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SPEC = ROOT / "docs" / "spec"
PAGES = {
    "ModRule specification": "modrule.md",
    "served form's specification": "api-server-form.md",
    "SidecarSet specification": "sidecars.md",
    "App Mesh specification": "sidecars.md",
    "specification of Pods at render time": "sidecars.md",
}
NAMED = re.compile(
    rf"({'|'.join(map(re.escape, PAGES))})"
    r"((?:,? sections?)?(?:,? (?:and |to )?(?:\([a-h]\)|[ABP]?\d+[a-z]?(?:\.\d+)*))*)"
)
SECTION = re.compile(r"\([a-h]\)|[ABP]?\d+[a-z]?(?:\.\d+)*")
DOCUMENT = re.compile(r'docs/([a-z/-]+\.md)(?:, "([^"]+)")?')


def named() -> list[tuple[str, str, str]]:
    """(module, page, section) of each name of a specification; the section may be empty."""
    found = set()
    for path in sorted((ROOT / "krm_fn").rglob("*.py")):
        text = re.sub(r"\s+", " ", path.read_text())
        module = str(path.relative_to(ROOT))
        for match in NAMED.finditer(text):
            sections = SECTION.findall(match[2]) or [""]
            found |= {(module, PAGES[match[1]], section) for section in sections}
    return sorted(found)


def headings(page: Path) -> list[str]:
    return re.findall(r"^#+ (.*)$", page.read_text(), flags=re.MULTILINE)


def test_docstrings_name_specifications() -> None:
    assert len(named()) > 60


@pytest.mark.parametrize(("module", "page", "section"), named())
def test_a_section_that_a_docstring_names_is_there(module: str, page: str, section: str) -> None:
    found = headings(SPEC / page)
    if section[:1] in ("A", "B", "P"):
        section = section.partition(".")[0]  # B3.7 is the seventh step of B3
    assert not section or any(
        re.match(re.escape(section) + r"(?![\dA-Za-z])", heading) for heading in found
    ), f"{module} names {section} of docs/spec/{page}"


def test_a_page_of_the_docs_that_a_docstring_names_is_there() -> None:
    for path in sorted((ROOT / "krm_fn").rglob("*.py")):
        text = re.sub(r"\s+", " ", path.read_text())
        for page, heading in DOCUMENT.findall(text):
            assert (ROOT / "docs" / page).is_file(), f"{path}: docs/{page}"
            assert not heading or heading in headings(ROOT / "docs" / page), f"{path}: {heading}"


@pytest.mark.parametrize(
    "folder", sorted(p.name for p in (ROOT / "tests" / "conformance").iterdir() if p.is_dir())
)
def test_each_folder_of_vectors_says_who_answered(folder: str) -> None:
    path = ROOT / "tests" / "conformance" / folder
    if any(path.glob("*.jsonl")):
        assert (path / "README.md").is_file()
