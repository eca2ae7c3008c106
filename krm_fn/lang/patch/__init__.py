"""Patches of JSON values: the profiles of JSON Patch that systems really apply, merge patch."""
