module krm-fn.dev/examples/capabilities

go 1.24
