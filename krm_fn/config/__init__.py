"""The configuration of a run, and where its rules come from."""
