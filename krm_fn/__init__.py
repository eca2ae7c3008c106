"""krm-fn: what admission does to manifests, before they reach a cluster.

    import krm_fn
    from pathlib import Path

    report = krm_fn.admit(Path("manifests"), Path("rules"), namespace="shop")
    for entry in report:
        print(entry.head, entry.denied, [finding.message for finding in entry.findings])

`krm_fn.admit` is the command line as a function, `krm_fn.sdk` is for functions of one's own,
`krm_fn.cel` evaluates CEL as the API server does. Names are loaded when they are first used.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from krm_fn import cel as cel
    from krm_fn import sdk as sdk
    from krm_fn.admission import Cause as Cause
    from krm_fn.admission import Change as Change
    from krm_fn.admission import Finding as Finding
    from krm_fn.admission import RuleRef as RuleRef
    from krm_fn.errors import CompileError as CompileError
    from krm_fn.errors import ConfigError as ConfigError
    from krm_fn.errors import EvaluationError as EvaluationError
    from krm_fn.errors import InputError as InputError
    from krm_fn.errors import KrmFnError as KrmFnError
    from krm_fn.errors import LimitError as LimitError
    from krm_fn.errors import RuleError as RuleError
    from krm_fn.errors import RunLimitError as RunLimitError
    from krm_fn.library import admit as admit
    from krm_fn.library import explain as explain
    from krm_fn.report.explanation import Explanation as Explanation
    from krm_fn.report.model import ObjectReport as ObjectReport
    from krm_fn.report.model import Outcome as Outcome
    from krm_fn.report.model import Report as Report

__version__ = "0.1.0"

_FACE = {
    "krm_fn.admission": ("Cause", "Change", "Finding", "RuleRef"),
    "krm_fn.errors": (
        "CompileError",
        "ConfigError",
        "EvaluationError",
        "InputError",
        "KrmFnError",
        "LimitError",
        "RuleError",
        "RunLimitError",
    ),
    "krm_fn.library": ("admit", "explain"),
    "krm_fn.report.explanation": ("Explanation",),
    "krm_fn.report.model": ("ObjectReport", "Outcome", "Report"),
}
_MODULES = ("cel", "sdk")

__all__ = [  # noqa: PLE0604
    "__version__",
    *_MODULES,
    *(name for names in _FACE.values() for name in names),
]


def __getattr__(name: str) -> Any:
    import importlib

    if name in _MODULES:
        return importlib.import_module(f"krm_fn.{name}")
    for module, names in _FACE.items():
        if name in names:
            value = getattr(importlib.import_module(module), name)
            globals()[name] = value
            return value
    raise AttributeError(f"module 'krm_fn' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
