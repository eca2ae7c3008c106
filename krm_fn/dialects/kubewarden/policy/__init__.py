"""A policy or a group: loaded, asked, and its answer made a decision."""
