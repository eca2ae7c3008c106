"""What Go's standard library reads and prints: one address for "what does Go do?".

Languages and dialects imitate programs in Go, whose texts and errors land in manifests and results.
Knows no Kubernetes and no language of this house.
Source: Go's fmt, strconv, encoding/json, net/url, time and regexp packages.
"""
