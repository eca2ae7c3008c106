"""Sprig v3.2.2's functions by name, each family a module that loads when it is first used.

All of Sprig's names are known but `env` and `expandenv`, which KubeMod removes. What answers in Go
with the time of day or by chance answers here from a clock and a seed that are handed in, or with
an error; so does what makes keys and certificates, always.
Source: github.com/Masterminds/sprig v3.2.2, functions.go.
"""

from __future__ import annotations

import importlib
from typing import Final

from krm_fn.lang.gotemplate.values import Family, Function

_FAMILIES: Final = {
    "strings": """
        abbrev abbrevboth camelcase cat contains hasPrefix hasSuffix hello indent initials join
        kebabcase lower nindent nospace plural quote repeat replace snakecase sortAlpha split
        splitList splitn squote substr swapcase title toString toStrings trim trimAll trimPrefix
        trimSuffix trimall trunc untitle upper wrap wrapWith""",
    "lists": """
        append chunk compact concat first has initial last list mustAppend mustChunk mustCompact
        mustFirst mustHas mustInitial mustLast mustPrepend mustPush mustRest mustReverse mustSlice
        mustUniq mustWithout prepend push rest reverse seq slice tuple uniq until untilStep
        without""",
    "dicts": """
        deepCopy dict dig get hasKey keys merge mergeOverwrite mustDeepCopy mustMerge
        mustMergeOverwrite omit pick pluck set unset values""",
    "defaults": """
        all any coalesce default empty fail fromJson mustFromJson mustToJson mustToPrettyJson
        mustToRawJson ternary toJson toPrettyJson toRawJson""",
    "regexes": """
        mustRegexFind mustRegexFindAll mustRegexMatch mustRegexReplaceAll
        mustRegexReplaceAllLiteral mustRegexSplit regexFind regexFindAll regexMatch
        regexQuoteMeta regexReplaceAll regexReplaceAllLiteral regexSplit""",
    "numbers": """
        add add1 add1f addf atoi biggest ceil div divf float64 floor int int64 max maxf min minf
        mod mul mulf round sub subf toDecimal""",
    "encodings": "adler32sum b32dec b32enc b64dec b64enc sha1sum sha256sum",
    "paths": "base clean dir ext isAbs osBase osClean osDir osExt osIsAbs",
    "types": "deepEqual kindIs kindOf typeIs typeIsLike typeOf",
    "random": "randAlpha randAlphaNum randAscii randBytes randInt randNumeric shuffle uuidv4",
    "crypto": """
        bcrypt buildCustomCert decryptAES derivePassword encryptAES genCA genCAWithKey
        genPrivateKey genSelfSignedCert genSelfSignedCertWithKey genSignedCert
        genSignedCertWithKey htpasswd""",
    "dates": """
        ago date dateInZone dateModify date_in_zone date_modify duration durationRound htmlDate
        htmlDateInZone mustDateModify mustToDate must_date_modify now toDate unixEpoch""",
    "versions": "semver semverCompare",
    "network": "getHostByName urlJoin urlParse",
}

_MODULES: Final = {name: module for module, names in _FAMILIES.items() for name in names.split()}

NAMES: Final = frozenset(_MODULES)
"""Every function's name."""


def knows(name: str) -> bool:
    """Whether Sprig has a function of that name that KubeMod leaves in."""
    return name in NAMES


def function(name: str) -> Function:
    """A function that `knows`."""
    family = importlib.import_module(f"{__name__}.{_MODULES[name]}").FUNCTIONS
    assert isinstance(family, Family)
    return family[name]
