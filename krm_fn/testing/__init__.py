"""Rule suites: read them, run their cases through the main job, compare, report.

A suite is a file beside rules that says what the rules do to objects. It stands on `run`, and the
command line on it. Source: docs/spec/test.md.
"""
