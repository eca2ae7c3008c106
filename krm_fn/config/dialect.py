"""The boundary of a dialect: what it is given to compile rules, and what it gives back.

A dialect is one system that rules are written for. It turns manifests into plugins and knows
neither how rules were found nor what becomes of verdicts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from krm_fn.admission import Cluster, Plugin, Rule
from krm_fn.admission.diagnostics import Diagnostics
from krm_fn.config.fields import Section
from krm_fn.config.options import OnRuleError
from krm_fn.system.paths import WORKING_DIRECTORY, Base

if TYPE_CHECKING:
    from krm_fn.kube.served import Served


class CompileContext(NamedTuple):
    """What a run tells a dialect besides its rules."""

    diagnostics: Diagnostics
    """Takes what is wrong with rules."""
    section: Section
    """The dialect's own section of the options, empty where there is none. The dialect reads the
    fields that it has; the run refuses those that are left over."""
    cluster: Cluster
    bindings: Sequence[Rule] = ()
    """Manifests that say how the rules apply."""
    served: Served | None = None
    """Makes the served form; None where rules see objects as they are written."""
    kubernetes_version: str = ""
    """`1.34`; "" is the newest of which there are schemas."""
    on_rule_error: OnRuleError = OnRuleError.FAIL
    strict: bool = False
    """Whether fields that a cluster would drop are errors."""
    lint: bool = False
    """Whether to report everything that may be a mistake."""
    base: Base = WORKING_DIRECTORY
    """Where relative paths in the section start."""
    complete: frozenset[str] = frozenset()
    """The kinds of which every object of the cluster is known."""
    has_templates_as_pods: bool = False
    """Whether templates of workloads are admitted as Pods."""
    is_last: bool = True
    """Whether no other stage sees the objects after this one."""


class Dialect(Protocol):
    """Manifests of one system, made into plugins."""

    def compile(self, rules: Sequence[Rule], context: CompileContext) -> Sequence[Plugin]:
        """Compile all rules, and read the section, which may stand alone.

        What is wrong with a rule goes to `context.diagnostics`. Raises ConfigError for the section.
        """
        ...
