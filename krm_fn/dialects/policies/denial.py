"""How a policy refuses a request: the API server's status, and who said what."""

from __future__ import annotations

from typing import NamedTuple

from krm_fn.admission import Cause, Finding, RuleRef


class Because(NamedTuple):
    """One reason for a denial, as the status lists it, and the rules it comes from."""

    message: str
    rules: tuple[RuleRef, ...] = ()
    failed: bool = True
    """Whether something could not be evaluated, and was not refused on purpose."""


class Denial(NamedTuple):
    """The status of a refused request; `message` is its text."""

    message: str
    reason: str
    code: int
    causes: tuple[Because, ...] = ()
    rules: tuple[RuleRef, ...] = ()
    """Whom the status as a whole comes from, where it lists no cause or does not say."""

    def findings(self) -> tuple[Finding, ...]:
        """One for each cause, or for the status where it lists none."""
        return tuple(
            Finding(
                Cause.FAILED if because.failed else Cause.REJECTED,
                True,
                because.message,
                because.rules or self.rules,
                code=self.code,
                reason=self.reason,
            )
            for because in self.causes or (Because(self.message),)
        )


class MutationRefusedError(Exception):
    """The request ends here, whatever the failurePolicy."""

    def __init__(self, denial: Denial) -> None:
        super().__init__(denial.message)
        self.denial = denial

    def by(self, *rules: RuleRef) -> MutationRefusedError:
        """The same, coming from rules."""
        return MutationRefusedError(self.denial._replace(rules=rules))


def internal_error(message: str) -> MutationRefusedError:
    """An error of the API server itself: 500."""
    text = f"Internal error occurred: {message}"
    return MutationRefusedError(Denial(text, "InternalError", 500, (Because(message),)))


def unavailable(message: str) -> MutationRefusedError:
    """Something is not there yet: 503."""
    return MutationRefusedError(Denial(message, "ServiceUnavailable", 503))
