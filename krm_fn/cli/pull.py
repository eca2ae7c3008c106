"""`krm-fn pull`: fetch modules of policies into the store and the lock.

The one command that opens a socket.
"""

from __future__ import annotations

import click

from krm_fn.errors import ConfigError
from krm_fn.system.streams import put


@click.command()
@click.argument("policies", nargs=-1, required=True, metavar="POLICY...")
@click.option(
    "--lock",
    metavar="FILE",
    help="Where digests are written down.  [default: policies.lock.json]",
)
@click.option(
    "--store",
    metavar="DIR",
    help="Where modules are kept.  [default: .krm-fn/modules beside the lock]",
)
@click.option(
    "--verification-config",
    metavar="FILE",
    help="Refuse what is not signed as this file asks for (apiVersion: v1, as for kwctl).",
)
def pull(
    policies: tuple[str, ...], lock: str | None, store: str | None, verification_config: str | None
) -> None:
    """Fetch WebAssembly modules into the store and lock them by digest.

    POLICY is what a policy names as its module: registry://ghcr.io/org/policy:v1 (or without
    registry://), or an https:// address. Commit the lock; a render then uses these bytes and no
    others, and downloads nothing. Pulling again moves a tag's digest to where it is now. Signatures
    of cosign are kept beside the module.

    \b
    krm-fn pull ghcr.io/kubewarden/policies/pod-privileged:v0.3.2
    """
    from krm_fn.dialects.kubewarden.faults import Fault
    from krm_fn.dialects.kubewarden.store.modules import (
        LOCK,
        REGISTRY,
        Store,
        digest_of,
        local_path,
        normal_url,
        read_lock,
        store_beside,
        write_lock,
    )
    from krm_fn.dialects.kubewarden.store.registry import fetch
    from krm_fn.dialects.kubewarden.store.sections import read_module
    from krm_fn.dialects.kubewarden.store.signatures import read_verification

    verification = read_verification(verification_config) if verification_config else None
    path = lock or LOCK
    known = read_lock(path)
    modules = Store(store or store_beside(path))
    for policy in policies:
        if local_path(policy) is not None:
            raise ConfigError(f"{policy} is a file already; there is nothing to pull")
        url = normal_url(policy)
        if verification is not None and not url.startswith(REGISTRY):
            raise ConfigError(f"{policy} cannot be verified: only modules in a registry are signed")
        data, signed = fetch(url)
        try:
            read_module(data)
        except Fault as fault:
            raise ConfigError(str(fault), policy) from None
        if verification is not None:
            verification.check(digest_of(data), [signed] if signed else [], policy)
        digest = modules.put(data)
        if signed is not None:
            modules.put_signatures(digest, signed)
        before = known.get(url)
        known[url] = digest
        write_lock(path, known)
        moved = f" (was {before})" if before not in (None, digest) else ""
        verified = ", verified" if verification is not None else ""
        put(f"{url} {digest}{moved}{verified}")
