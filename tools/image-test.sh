#!/usr/bin/env bash
# Builds the image from the Dockerfile and runs the function in it: no daemon, no image registry.
#
# The base is a Debian made by debootstrap (kept in .tools/), the builder is buildah, and runc runs
# the function: as two users, on a read-only root, without a network. What it answers must be, byte
# for byte, what the krm-fn on PATH answers. Needs root on Debian; elsewhere it says so and skips,
# unless KRM_FN_REQUIRE names `image`.
set -euo pipefail
cd "$(dirname "$0")/.."

skip() {
    echo "image-test: skipped, nothing was built: $1"
    case ",${KRM_FN_REQUIRE:-}," in *,image,*) exit 1 ;; esac
    exit 0
}

say() { echo "image-test: $*"; }

packages=(buildah debootstrap runc)
install_packages() {
    local missing=() name
    for name in "${packages[@]}"; do
        command -v "$name" >/dev/null || missing+=("$name")
    done
    test "${#missing[@]}" -eq 0 && return
    say "installing ${missing[*]}"
    apt-get update -qq >"$work/apt.log" 2>&1 &&
        DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
            "${missing[@]}" >>"$work/apt.log" 2>&1
}

suite=bookworm # its python3 is 3.11
base=.tools/$suite-python3.tar
make_base() {
    test -s "$base" && return
    # The mirror that apt uses here, and its proxy.
    local mirror http_proxy="${http_proxy:-}"
    # shellcheck disable=SC2016 # apt-get expands it
    mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' \
        "Codename: $VERSION_CODENAME" 'Component: main' 2>/dev/null | sed -n 1p) || return
    eval "$(apt-config shell http_proxy Acquire::http::Proxy)"
    test -z "$http_proxy" || export http_proxy
    say "making the base: $suite with python3"
    debootstrap --variant=minbase --include=python3,python3-venv $suite "$work/base" "$mirror" \
        >"$work/debootstrap.log" 2>&1 || return
    mkdir -p .tools
    tar -C "$work/base" --one-file-system -cf "$work/base.tar" . || return
    rm -rf --one-file-system "$work/base"
    mv "$work/base.tar" "$base"
}

# How pip reaches its index on this machine, for the build only.
pip_secrets() {
    python - "$work/pip.conf" "$work/ca.crt" <<'PYTHON'
import ast, os, shutil, subprocess, sys

conf, ca = sys.argv[1:]
listed = subprocess.run(
    [sys.executable, "-m", "pip", "config", "list"], check=True, capture_output=True, text=True
)
found = {}
for line in listed.stdout.splitlines():
    key, _, value = line.partition("=")
    found[key.rpartition(".")[2]] = ast.literal_eval(value)
kept = ("index-url", "extra-index-url", "trusted-host", "proxy", "timeout", "default-timeout")
options = {key: found[key] for key in kept if key in found}
certificates = found.get("cert") or os.environ.get("REQUESTS_CA_BUNDLE")
with open(ca, "wb") as copy:
    if certificates and os.path.isfile(certificates):
        with open(certificates, "rb") as source:
            shutil.copyfileobj(source, copy)
        options["cert"] = "/run/secrets/ca"
with open(conf, "w") as text:
    text.write("[global]\n")
    for key, value in options.items():
        text.write(f"{key} = " + value.strip().replace("\n", "\n    ") + "\n")
PYTHON
}

images() { buildah --root "$work/storage" --runroot "$work/run" --storage-driver vfs "$@"; }

build() {
    local container
    container=$(images from scratch)
    images add -q "$container" "$base" / >/dev/null
    images commit -q "$container" localhost/base:$suite >/dev/null
    images rm "$container" >/dev/null
    say "building krm-fn:dev"
    images build --isolation chroot --build-arg BASE=localhost/base:$suite \
        --secret "id=pip,src=$work/pip.conf" --secret "id=ca,src=$work/ca.crt" \
        -t krm-fn:dev . >"$work/build.log" 2>&1 || {
        tail -n 20 "$work/build.log" >&2
        say "the build failed"
        exit 1
    }
}

# A bundle for runc of what the image says of itself: entrypoint, environment, folder.
bundle() { # UID:GID [ARGUMENT...]
    rm -rf "$work/bundle"
    mkdir "$work/bundle"
    runc spec --bundle "$work/bundle"
    images inspect --type image krm-fn:dev >"$work/image.json"
    python - "$work" "$root" "$PWD/function-config/rules" "$@" <<'PYTHON'
import json, pathlib, sys

work, root, rules, user, *arguments = sys.argv[1:]
image = json.loads(pathlib.Path(work, "image.json").read_text())["OCIv1"]["config"]
path = pathlib.Path(work, "bundle", "config.json")
config = json.loads(path.read_text())
uid, gid = map(int, user.split(":"))
config["root"] = {"path": root, "readonly": True}
config["process"].update(
    terminal=False,
    user={"uid": uid, "gid": gid},
    args=[*image["Entrypoint"], *arguments],
    env=image["Env"],
    cwd=image["WorkingDir"],
    capabilities={},
    noNewPrivileges=True,
)
config["mounts"].append(
    {"destination": "/rules", "type": "bind", "source": rules, "options": ["bind", "ro"]}
)
path.write_text(json.dumps(config))
PYTHON
}

runs=0
in_image() { # UID:GID [ARGUMENT...]
    runs=$((runs + 1))
    if test "$isolation" = runc; then
        bundle "$@"
        runc --root "$work/runc" run --bundle "$work/bundle" "krm-fn-image-test-$$-$runs"
    else
        local user=$1
        shift
        images run --isolation chroot --user "$user" --volume "$PWD/function-config/rules:/rules:ro" \
            "$container" -- krm-fn "$@" 2> >(sed '/^subprocess exited\|^Error: exit status/d' >&2)
    fi
}

failed=0
compare() { # NAME INPUT [ARGUMENT...]: in the image as in the checkout
    local name=$1 input=$2 user status=0 expected=0
    shift 2
    krm-fn "$@" <"$input" >"$work/expected.out" 2>"$work/expected.err" || expected=$?
    for user in 65534:65534 999:4242; do
        status=0
        in_image "$user" "$@" <"$input" >"$work/out" 2>"$work/err" || status=$?
        if test "$status" -eq "$expected" && cmp "$work/expected.out" "$work/out" &&
            cmp "$work/expected.err" "$work/err"; then
            say "ok: $name as $user: exit status $status, $(wc -c <"$work/out") bytes alike"
        else
            say "FAILED: $name as $user: exit status $status, not $expected, or other bytes"
            head -n 5 "$work/err" >&2
            failed=1
        fi
    done
}

test "$(id -u)" -eq 0 || skip "this is not root"
# shellcheck disable=SC1091
test -r /etc/os-release && . /etc/os-release
test "${ID:-}" = debian || skip "this is not Debian"
work=$(mktemp -d "${TMPDIR:-/tmp}/krm-fn-image-test.XXXXXX")
export TMPDIR=$work
trap 'rm -rf --one-file-system "$work"' EXIT
unshare --mount true 2>/dev/null || skip "no mounts are allowed here"
install_packages || skip "${packages[*]} cannot be installed: $(tail -n 1 "$work/apt.log")"
make_base || skip "no $suite can be made: $(tail -n 1 "$work/debootstrap.log" 2>/dev/null)"
pip_secrets
build

container=$(images from krm-fn:dev)
root=$(images mount "$container")
isolation=runc
if ! in_image 999:4242 version >/dev/null 2>"$work/err" </dev/null; then
    isolation=chroot
    say "runc cannot run here ($(tail -n 1 "$work/err")): buildah's chroot instead, so a" \
        "read-only root and no network are not tested"
fi

demo=examples/demo
krm-fn apply -f $demo/rules -f $demo/manifests -o resourcelist --mode validate --quiet \
    >"$work/list.yaml"
krm-fn apply -f $demo/rules -f $demo/rejected -o resourcelist --mode audit --quiet \
    >"$work/rejected.yaml"
compare "the demo's list" "$work/list.yaml"
compare "its rejected list" "$work/rejected.yaml"
compare "the command line" /dev/null apply --help

# Mounted rules, as the sample configuration names them: only that they are found and used.
{
    cat "$work/list.yaml"
    echo functionConfig:
    sed 's/^/  /' function-config/admission-paths-container.yaml
} >"$work/mounted.yaml"
if in_image 999:4242 <"$work/mounted.yaml" 2>&1 >/dev/null | grep -q '1 changed.*(2 rules)'; then
    say "ok: rules mounted at /rules"
else
    say "FAILED: rules mounted at /rules"
    failed=1
fi

sources=$(find "$root/opt/krm-fn/lib" -name '*.py' | wc -l)
compiled=$(find "$root/opt/krm-fn/lib" -name '*.pyc' | wc -l)
if test "$sources" -gt 0 && test "$compiled" -eq "$sources"; then
    say "ok: $compiled modules, all compiled"
else
    say "FAILED: of $sources modules $compiled are compiled"
    failed=1
fi
# Neither the index nor the certificates that built the image are in it.
sed -n 's/.*:\/\//\/\//p' "$work/pip.conf" >"$work/addresses"
images inspect --type image krm-fn:dev >"$work/image.json"
if grep -rqsFf "$work/addresses" "$root/opt" "$root/etc" "$root/run" "$work/image.json" ||
    test -s "$root/run/secrets/pip" || test -s "$root/run/secrets/ca"; then
    say "FAILED: how pip reached its index is in the image"
    failed=1
fi
exit $failed
