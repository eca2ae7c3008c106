"""An API server's admission chain without the API server. Knows no dialect and no output."""

from krm_fn.admission.chain import Chain, Change, RequestAttributes, Verdict, net_changes
from krm_fn.admission.cluster import Cluster, Namespace, Subject
from krm_fn.admission.plugin import Phase, Plugin, Prefilter, Selection
from krm_fn.admission.request import Operation, Request, User
from krm_fn.admission.response import Cause, Finding, Response, Step
from krm_fn.admission.rule import Rule, RuleRef

__all__ = [
    "Cause",
    "Chain",
    "Change",
    "Cluster",
    "Finding",
    "Namespace",
    "Operation",
    "Phase",
    "Plugin",
    "Prefilter",
    "Request",
    "RequestAttributes",
    "Response",
    "Rule",
    "RuleRef",
    "Selection",
    "Step",
    "Subject",
    "User",
    "Verdict",
    "net_changes",
]
