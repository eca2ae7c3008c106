"""Readers of block YAML by lines. They answer as the reference readers do, or not at all.

See README.md beside this file for how that is proved.
"""
