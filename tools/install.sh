#!/usr/bin/env bash
# Installs this checkout into a new environment: tools/install.sh DIR. Everything comes from the
# locks, with hashes, what builds the wheel included; pip takes nothing else.
set -euo pipefail
home=$1
source=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/build"
"$work/build/bin/pip" install --quiet --disable-pip-version-check --require-hashes \
    -r "$source/requirements-build.lock"
"$work/build/bin/pip" wheel --quiet --disable-pip-version-check --no-deps --no-index \
    --no-build-isolation -w "$work" "$source"
python3 -m venv "$home"
"$home/bin/pip" install --quiet --disable-pip-version-check --require-hashes \
    -r "$source/requirements-runtime.lock"
"$home/bin/pip" install --quiet --disable-pip-version-check --no-deps --no-index "$work"/*.whl
