"""CEL as Kubernetes' admission policies use it: its libraries, its variables, its patches.

    env = environment(params=True)
    variables = Variables(env)
    variables.add("n", "object.spec.replicas")
    program = variables.extend(env).compile("variables.n < 5", [types.BOOL])
    pool = Pool()
    bindings = variables.bind({"object": {"spec": {"replicas": 3}}}, pool)
    evaluate(program, bindings, pool).value    # True

`environments` knows what a release has, `variables` those of a policy, `evaluation` what they may
cost together, `views` the typed request, `patches` what a mutation's value means. Nothing here is
loaded before an expression is compiled.
"""

from krm_fn.kube.cel.environments import (
    READ_IN_PLACE_SINCE,
    STORED,
    environment,
    parse_version,
    version_of_new,
)
from krm_fn.kube.cel.evaluation import Pool, PoolError, evaluate
from krm_fn.kube.cel.patches import json_patch, object_patch
from krm_fn.kube.cel.variables import Variables

__all__ = [
    "READ_IN_PLACE_SINCE",
    "STORED",
    "Pool",
    "PoolError",
    "Variables",
    "environment",
    "evaluate",
    "json_patch",
    "object_patch",
    "parse_version",
    "version_of_new",
]
