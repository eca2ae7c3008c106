"""The errors that everybody may raise and catch, as one hierarchy.

Every error carries one clear sentence: what, where, what to do. The edges of the program
(`krm_fn.run.function`, `krm_fn.cli`) turn it into the documented exit status; nothing in between
knows how errors are shown. This module knows no other module of the package.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, Self


class KrmFnError(Exception):
    """Base of all errors of the program that are not faults of the program.

    `message` is one sentence without a full stop; `where` names the place the user wrote
    (``file.yaml:12`` or ``items[3]``), empty where there is none. `details` are lines of their own
    below it, such as a list of files.
    """

    problems: tuple[str, ...] = ()
    """All that is wrong, where it is more than one thing."""

    def __init__(self, message: str, where: str = "", *, details: Iterable[str] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.where = where
        self.details = tuple(details)

    @classmethod
    def of(cls, problems: Iterable[str]) -> Self:
        """One error of everything that is wrong, a line each."""
        problems = tuple(problems)
        error = cls("\n".join(problems))
        error.problems = problems
        return error

    def __str__(self) -> str:
        return f"{self.where}: {self.message}" if self.where else self.message

    def lines(self) -> list[str]:
        """What there is to say: each problem starts with `error`, what belongs to it is indented.

        These are the lines, and no others: a line break within one of them is part of a name.
        """
        if self.problems:
            return [line for problem in self.problems for line in _problem(problem)]
        return [*_problem(str(self)), *(f"  {line}" for line in self.details)]

    def at(self, where: str) -> KrmFnError:
        """The same error, with its place filled in where it had none."""
        if not self.where:
            self.where = where
        return self


class InputError(KrmFnError):
    """The input (manifests, a ResourceList) cannot be read: exit status 4 on the command line."""


class ConfigError(KrmFnError):
    """The functionConfig, an option or a path is not usable: exit status 2 on the command line."""


class OutputError(KrmFnError):
    """Standard output or a file cannot be written: exit status 4 on the command line."""


class RuleError(ConfigError):
    """A rule cannot be read or compiled: exit status 2 on the command line."""


class RunLimitError(KrmFnError):
    """The rules of a run do more than `krm_fn.work` allows; ends the run, whatever a rule says."""


class LanguageError(KrmFnError):
    """Base of the errors of the small languages in `krm_fn.lang`."""


class CompileError(LanguageError):
    """A text of one of the languages does not compile; found when a rule is loaded."""


class EvaluationError(LanguageError):
    """A compiled expression, template or patch failed on one object."""


class LimitError(EvaluationError):
    """An evaluation passed one of the bounds of `krm_fn.limits`."""


_SNIPPET: Final = re.compile(r"\n *(?=ERROR: <input>:|\| )")
"""Between the lines of a complaint about an expression, which shows a part of it."""


def _problem(problem: str) -> list[str]:
    first, *rest = _SNIPPET.split(problem)
    return [f"error {first}", *(f"  {line}" for line in rest)]


class DecodeError(KrmFnError):
    """The API server would not decode this object: a value has a type that its field cannot hold.

    `path` is the field, empty where the object as a whole is meant.
    """

    def __init__(self, message: str, path: tuple[str | int, ...] = ()) -> None:
        super().__init__(message)
        self.path = path


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`; did you mean X?` for the nearest of the known words, "" where none is near."""
    import difflib

    by_fold = {name.lower(): name for name in known}
    near = difflib.get_close_matches(word.lower(), by_fold, n=1, cutoff=0.6)
    return f"; did you mean {by_fold[near[0]]}?" if near else ""
