"""The plugins of this dialect, in kube-apiserver's order.

This module knows classes and names; what is enabled is told by whoever asks.
Source: docs/spec/builtin-admission.md sections (a) and (c).
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping
from typing import Any, Final

from krm_fn.dialects.builtin.alwayspullimages import AlwaysPullImages
from krm_fn.dialects.builtin.antiaffinity import LimitPodHardAntiAffinityTopology
from krm_fn.dialects.builtin.certificates import CertificateSubjectRestriction
from krm_fn.dialects.builtin.claimresize import PersistentVolumeClaimResize
from krm_fn.dialects.builtin.defaultclass import DefaultIngressClass, DefaultStorageClass
from krm_fn.dialects.builtin.defaulttolerationseconds import DefaultTolerationSeconds
from krm_fn.dialects.builtin.extendedresourcetoleration import ExtendedResourceToleration
from krm_fn.dialects.builtin.externalips import DenyServiceExternalIPs
from krm_fn.dialects.builtin.limitranger import LimitRanger
from krm_fn.dialects.builtin.namespaces import (
    NamespaceAutoProvision,
    NamespaceExists,
    NamespaceLifecycle,
)
from krm_fn.dialects.builtin.nodetaint import TaintNodesByCondition
from krm_fn.dialects.builtin.order import NAMES
from krm_fn.dialects.builtin.plugin import BuiltIn
from krm_fn.dialects.builtin.podnodeselector import PodNodeSelector
from krm_fn.dialects.builtin.podsecurity import PodSecurity
from krm_fn.dialects.builtin.podsecurity.policy import configured
from krm_fn.dialects.builtin.podtolerationrestriction import PodTolerationRestriction
from krm_fn.dialects.builtin.podtopologylabels import PodTopologyLabels
from krm_fn.dialects.builtin.priority import Priority
from krm_fn.dialects.builtin.quota import ResourceQuota
from krm_fn.dialects.builtin.quota.ledger import Ledger
from krm_fn.dialects.builtin.quota.plugin import Limited
from krm_fn.dialects.builtin.runtimeclass import RuntimeClass
from krm_fn.dialects.builtin.serviceaccount import ServiceAccount
from krm_fn.dialects.builtin.storageprotection import StorageObjectInUseProtection

Configuration = Mapping[str, Any]
"""The content of a plugin's configuration file, with the file's own fields."""

_PLAIN: Final[tuple[type[BuiltIn], ...]] = (
    AlwaysPullImages,
    CertificateSubjectRestriction,
    DefaultIngressClass,
    DefaultStorageClass,
    DefaultTolerationSeconds,
    DenyServiceExternalIPs,
    ExtendedResourceToleration,
    LimitPodHardAntiAffinityTopology,
    LimitRanger,
    NamespaceAutoProvision,
    NamespaceExists,
    NamespaceLifecycle,
    PersistentVolumeClaimResize,
    PodTopologyLabels,
    Priority,
    RuntimeClass,
    ServiceAccount,
    StorageObjectInUseProtection,
    TaintNodesByCondition,
)


def _pod_security(configuration: Configuration) -> BuiltIn:
    exemptions = configuration.get("exemptions") or {}
    return PodSecurity(
        configured(configuration.get("defaults") or {}),
        exemptions.get("namespaces") or (),
        exemptions.get("runtimeClasses") or (),
        exemptions.get("usernames") or (),
    )


def _pod_node_selector(configuration: Configuration) -> BuiltIn:
    return PodNodeSelector(configuration.get("podNodeSelectorPluginConfig") or {})


def _pod_toleration_restriction(configuration: Configuration) -> BuiltIn:
    return PodTolerationRestriction(
        configuration.get("default") or (), configuration.get("whitelist") or ()
    )


_CONFIGURED: Final[Mapping[str, Callable[[Configuration], BuiltIn]]] = {
    PodSecurity.name: _pod_security,
    PodNodeSelector.name: _pod_node_selector,
    PodTolerationRestriction.name: _pod_toleration_restriction,
}

CONFIGURABLE: Final = frozenset((*_CONFIGURED, ResourceQuota.name))
"""The plugins that have a configuration file."""


def plugins(
    enabled: Container[str],
    configurations: Mapping[str, Configuration],
    ledger: Ledger | None = None,
    *,
    counts_pods: bool = False,
) -> Iterator[BuiltIn]:
    """The plugins that are enabled, in the order in which the server calls them.

    `counts_pods`: quotas count the Pods of workloads, whose templates are admitted as Pods.
    """
    plain = {plugin.name: plugin for plugin in _PLAIN}
    for name in NAMES:
        configuration = configurations.get(name) or {}
        if name not in enabled:
            continue
        if name in plain:
            yield plain[name]()
        elif name in _CONFIGURED:
            yield _CONFIGURED[name](configuration)
        elif name == ResourceQuota.name:
            limited = map(Limited.of, configuration.get("limitedResources") or ())
            yield ResourceQuota(limited, ledger, counts_pods=counts_pods)
