"""Facts of Kubernetes: kinds and their resources, selectors. Knows no rule and no stream."""
