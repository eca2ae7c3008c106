"""Languages as such: select expressions, Go templates, JSON Patch, regular expressions.

They know values and text; they know no Kubernetes, no YAML, no rule.
"""
