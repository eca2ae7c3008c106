"""Where modules come from: files, the store, registries; signatures; compiled modules."""
