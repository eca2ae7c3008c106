"""Kubewarden's policies, offline: WebAssembly in the modes kubewarden-wapc, wasi, opa, gatekeeper.

`resource` decodes a policy, `modules` finds its module, `loading` brings both to life, `plugin` is
its webhook, `dialect` puts these together. Below: `policy` asks a module in its mode (`wapc`,
`command`, `rego`), `engine` runs it within limits in a world of its own (`wasi`), `host` answers
its calls (`requests`, `reads`, `answers`), `answer` and `decision` say what follows from what it
said.
"""

from krm_fn.dialects.kubewarden.dialect import DIALECT

__all__ = ["DIALECT"]
