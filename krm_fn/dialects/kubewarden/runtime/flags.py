"""How WebAssembly is compiled and run here: the one set of flags for parent and child process.

What the policy server's engine takes is taken, nothing more; all that could differ from machine to
machine is switched off. Source: wasmtime 44's defaults, as observed; vectors' README, 4.
"""

from __future__ import annotations

from typing import Any, Final

from krm_fn import limits

FLAGS: Final[dict[str, Any]] = {
    "consume_fuel": True,
    "epoch_interruption": True,
    "cranelift_nan_canonicalization": True,
    "max_wasm_stack": limits.WASM_STACK,
    "wasm_simd": True,
    "wasm_relaxed_simd": True,
    "wasm_relaxed_simd_deterministic": True,
    "wasm_bulk_memory": True,
    "wasm_reference_types": True,
    "wasm_multi_value": True,
    "wasm_tail_call": True,
    "wasm_multi_memory": True,
    "wasm_memory64": True,
    "wasm_threads": True,
    "wasm_function_references": True,
    "shared_memory": False,
    "wasm_exceptions": False,
    "wasm_gc": False,
    "wasm_wide_arithmetic": False,
    "wasm_custom_page_sizes": False,
}


def make_engine() -> Any:
    """A `wasmtime.Engine` with these flags."""
    import wasmtime

    config = wasmtime.Config()
    for name, value in FLAGS.items():
        setattr(config, name, value)
    return wasmtime.Engine(config)
