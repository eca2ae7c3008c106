"""JSON, YAML and patches as the policy server reads and writes them."""
