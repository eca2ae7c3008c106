"""The operating system: standard streams, files, paths and a deadline. Knows no manifest."""
