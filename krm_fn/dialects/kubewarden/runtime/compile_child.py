"""Compiles one module: WebAssembly on standard input, machine code on standard output.

A process of its own, since no limit of wasmtime bounds compilation: 0.4 MB of hostile code takes 14
GB and more than a minute. The operating system bounds this process, and nothing else is in it.
"""

from __future__ import annotations

import sys

from krm_fn import limits
from krm_fn.dialects.kubewarden.runtime.flags import make_engine


def main() -> int:
    """Exit status 0; 1 with a sentence on standard error; killed or aborted at a limit."""
    import resource

    import wasmtime

    data = sys.stdin.buffer.read()
    engine = make_engine()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (limits.WASM_COMPILE_MEMORY, limits.WASM_COMPILE_MEMORY))
    seconds = limits.WASM_COMPILE_SECONDS
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    try:
        module = wasmtime.Module(engine, data)
    except wasmtime.WasmtimeError as error:
        sys.stderr.write(" ".join(str(error).split()))
        return 1
    sys.stdout.buffer.write(module.serialize())
    return 0


if __name__ == "__main__":
    sys.exit(main())
