"""A run that tells why: the same admission, in which plugins record what they decide by."""

from __future__ import annotations

from collections.abc import Sequence

from krm_fn.config.options import Mode
from krm_fn.config.sources import Stage
from krm_fn.report.explanation import Explanation, explanation
from krm_fn.run.admit import admit
from krm_fn.wire import Item, Stream


def explain(
    streams: Sequence[Stream], stages: Sequence[Stage], function_config: Item | None = None
) -> Explanation:
    """Admit every item of the streams, and say of every rule why. The last stage edits nothing.

    Raises KrmFnError for what cannot be read.
    """
    *earlier, last = stages
    told = last._replace(options=last.options._replace(mode=Mode.VALIDATE))
    report = admit(streams, [*earlier, told], function_config, explains=True)
    rules = [rule for stage in stages for rule in stage.rules.rules]
    return explanation(report, rules)
