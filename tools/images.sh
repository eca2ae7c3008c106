#!/usr/bin/env bash
# Pins the images that this repository names: each `docker.io/NAME:TAG` gets the digest that its tag
# has now. Asks the registry with crane, skopeo or docker, whichever is there; without any, or
# without a network, it says so and changes nothing.
set -euo pipefail
cd "$(dirname "$0")/.."
files=(Dockerfile examples/argocd/sidecar/Dockerfile examples/ci/gitlab.yaml docs/ci.md)

digest() {
    if command -v crane >/dev/null; then
        crane digest "$1"
    elif command -v skopeo >/dev/null; then
        skopeo inspect --format '{{.Digest}}' "docker://$1"
    elif command -v docker >/dev/null; then
        docker buildx imagetools inspect --format '{{.Manifest.Digest}}' "$1"
    else
        echo "images: needs crane, skopeo or docker" >&2
        return 1
    fi
}

named=$(grep -ohE 'docker\.io/[a-z0-9/._-]+:[A-Za-z0-9._-]+' "${files[@]}" | sort -u)
for image in $named; do
    if ! found=$(digest "$image") || ! [[ $found =~ ^sha256:[0-9a-f]{64}$ ]]; then
        echo "images: no digest for $image; nothing was changed for it" >&2
        failed=1
        continue
    fi
    for file in "${files[@]}"; do
        sed -i -E "s#${image//./\\.}(@sha256:[0-9a-f]{64})?(\$|[^A-Za-z0-9._@-])#$image@$found\2#" "$file"
    done
    echo "$image@$found"
done
exit "${failed:-0}"
