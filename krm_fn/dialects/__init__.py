"""One folder a dialect. No dialect knows another one."""
