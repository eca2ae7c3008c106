from __future__ import annotations

import pytest

from krm_fn.errors import EvaluationError, LimitError
from krm_fn.lang.gotemplate import parse


def render(text: str) -> str:
    return parse("{{ " + text + " }}", "x").render({})


@pytest.mark.parametrize(
    ("version", "canonical"),
    [
        ("1", "1.0.0"),
        ("v1.2", "1.2.0"),
        ("01.2.3", "1.2.3"),
        ("1.2.3-rc.1+b5", "1.2.3-rc.1+b5"),
        ("18446744073709551615.0.0", "18446744073709551615.0.0"),
    ],
)
def test_a_version_prints_canonically(version: str, canonical: str) -> None:
    assert render(f'semver "{version}"') == canonical


@pytest.mark.parametrize(
    "version", ["", "x", "V1", "1.2.3.4", " 1", "1.2.3-", "1.2.3-01", "18446744073709551616"]
)
def test_what_is_no_version_is_an_error(version: str) -> None:
    with pytest.raises(EvaluationError, match="error calling semver: "):
        render(f'semver "{version}"')


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ('(semver "v1.2.3-rc+b").Original', "v1.2.3-rc+b"),
        ('(semver "1.2.3-rc+b").Prerelease', "rc"),
        ('(semver "1.2.3-rc+b").Metadata', "b"),
        ('typeOf (semver "1.2.3").Minor', "uint64"),
        ('(semver "1.2.3").IncMajor', "2.0.0"),
        ('(semver "1.2.3-rc").IncPatch', "1.2.3"),
        ('(semver "1.2.3").SetPrerelease "a.1"', "1.2.3-a.1"),
        ('(semver "1.10.0").GreaterThan (semver "1.9.0")', "true"),
        ('semver "1.0.0-2" | (semver "1.0.0-10").Compare', "1"),
        ('(semver "1.0.0-2").Compare (semver "1.0.0-a")', "-1"),
        ('(semver "1.0.0+a").Equal (semver "1.0.0+b")', "true"),
        ('eq (semver "1.0.0") (semver "1.0.0")', "false"),
        ('deepEqual (semver "1.0.0") (semver "1.0.0")', "true"),
        ('toJson (semver "1")', '"1.0.0"'),
        ('kindOf (semver "1")', "ptr"),
        ('kindOf (semver "1").IncMajor', "struct"),
    ],
)
def test_a_version_has_its_methods(call: str, expected: str) -> None:
    assert render(call) == expected


@pytest.mark.parametrize(
    "call",
    [
        '(semver "1").Nope',
        '(semver "1").IncMajor.Original',
        '(semver "1").Compare "1"',
        '(semver "1").Compare nil',
        '(semver "1").SetPrerelease "01"',
        '(semver "1").Major 1',
    ],
)
def test_a_wrong_call_of_a_method_is_an_error(call: str) -> None:
    with pytest.raises(EvaluationError):
        render(call)


@pytest.mark.parametrize(
    ("constraint", "fitting", "others"),
    [
        ("*", "0.0.1 9.9.9", "1.0.0-a"),
        ("1.2.3", "1.2.3 1.2.3+b", "1.2.4 1.2.3-a"),
        ("1.2", "1.2.0 1.2.9", "1.3.0 1.1.9"),
        ("=1.x", "1.0.0 1.9.9", "2.0.0"),
        ("!=1.2", "1.3.0", "1.2.5"),
        (">1", "2.0.0", "1.9.9"),
        (">=1.2 <1.4", "1.2.0 1.3.9", "1.4.0"),
        (">1.2,<=1.4", "1.3.0 1.4.9", "1.2.9 1.5.0"),
        ("~1.2.3", "1.2.9", "1.3.0 1.2.2"),
        ("~>1", "1.9.0", "2.0.0"),
        ("^1.2.3", "1.9.0", "2.0.0 1.2.2"),
        ("^0.2.3", "0.2.9", "0.3.0"),
        ("^0.0.3", "0.0.3", "0.0.4"),
        ("1.2 - 1.4", "1.4.9", "1.5.0 1.1.0"),
        ("<1 || >=3", "0.1.0 3.0.0", "2.0.0"),
        (">=1.2.0-0", "1.2.0-a 1.3.0-a", "1.1.9"),
        ("=>1.2", "1.2.0", "1.1.0"),
    ],
)
def test_a_constraint_selects_versions(constraint: str, fitting: str, others: str) -> None:
    for version in fitting.split():
        assert render(f'semverCompare "{constraint}" "{version}"') == "true", version
    for version in others.split():
        assert render(f'semverCompare "{constraint}" "{version}"') == "false", version


@pytest.mark.parametrize("constraint", ["", "é", ">>1", "1 ||", "1.2.3.4.", "1|2"])
def test_what_is_no_constraint_is_an_error(constraint: str) -> None:
    with pytest.raises(EvaluationError, match="error calling semverCompare: "):
        render(f'semverCompare "{constraint}" "1.0.0"')


@pytest.mark.parametrize(
    "text",
    ['semverCompare (repeat 9999 "1 ") "1"', 'semver (print "1.0.0-" (repeat 9999 "a"))'],
)
def test_a_version_or_constraint_that_is_too_long_meets_a_limit(text: str) -> None:
    with pytest.raises(LimitError, match="4,096 characters"):
        render(text)
