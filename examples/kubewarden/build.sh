#!/bin/sh
# Builds the policy into ./capabilities.wasm. Needs go and python3.
set -eu
cd "$(dirname "$0")"
(cd policy && GOOS=wasip1 GOARCH=wasm go build -trimpath -ldflags=-s -o ../capabilities.wasm .)
python3 policy/annotate.py capabilities.wasm policy/metadata.json
