"""What the API server says of the parts of a Pod that it does not take, in its own words.

Each function gives complaints, `field: what is wrong`, about a value that was decoded and filled
in; nothing is changed. It is what Kubernetes 1.32 checks in what a Pod is made of with all options
off, as webhooks that import its validation do.
Source: Kubernetes 1.32 pkg/apis/core/validation; apimachinery pkg/util/validation.
"""
