#!/usr/bin/env bash
# Installs this checkout into a new environment: tools/install.sh DIR. Everything comes from the
# locks, with hashes, what builds the wheel included; pip takes nothing else.
set -euo pipefail
home=$1
source=$(cd "$(dirname "$0")/.." && pwd)
python3 -m venv "$home"
pip="$home/bin/pip --quiet --disable-pip-version-check"
$pip install --require-hashes -r "$source/requirements-runtime.lock"
$pip install --require-hashes -r "$source/requirements-build.lock"
$pip install --no-deps --no-build-isolation "$source"
$pip uninstall --yes -r "$source/requirements-build.lock"
