"""WebAssembly guests, run within limits: the engine and the four execution modes."""
