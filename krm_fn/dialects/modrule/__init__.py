"""KubeMod ModRules, as KubeMod v0.20.0 evaluates them.

`spec` decodes a rule, `rule` validates and compiles it, `scope` says for which objects it is asked,
`criteria` whether it matches, `engine` takes an object through all rules, `form` is the object as
rules see it, `plugin` is the webhook, `dialect` puts these together.
"""

from krm_fn.dialects.modrule.dialect import DIALECT

__all__ = ["DIALECT"]
