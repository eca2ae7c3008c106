"""An API server's admission chain without the API server. Knows no dialect and no output."""

from krm_fn.admission.chain import Chain, Change, Circumstances, Verdict, net_changes
from krm_fn.admission.cluster import Cluster, Namespace
from krm_fn.admission.model import (
    Cause,
    Compiled,
    Dialect,
    Finding,
    Operation,
    Phase,
    Plugin,
    Prefilter,
    Request,
    Response,
    Rule,
    RuleRef,
    Selection,
    Step,
    Trace,
    User,
)

__all__ = [
    "Cause",
    "Chain",
    "Change",
    "Circumstances",
    "Cluster",
    "Compiled",
    "Dialect",
    "Finding",
    "Namespace",
    "Operation",
    "Phase",
    "Plugin",
    "Prefilter",
    "Request",
    "Response",
    "Rule",
    "RuleRef",
    "Selection",
    "Step",
    "Trace",
    "User",
    "Verdict",
    "net_changes",
]
