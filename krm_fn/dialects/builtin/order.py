"""kube-apiserver's admission plugins by name, in the order in which they are called.

The order of the names in a flag changes nothing. This module knows names, not what a plugin does.
Source: k8s.io/kubernetes pkg/kubeapiserver/options/plugins.go of 1.36.
"""

from __future__ import annotations

from enum import Enum
from typing import Final, NamedTuple


class Part(Enum):
    """Whether a plugin is part of a render."""

    RENDERED = "rendered"
    ABSENT = "absent"
    """It needs what a render has not (identities, authorization), or its gate is off."""
    RULES = "rules"
    """It calls policies or webhooks, which are the rules of a render."""


class PluginName(NamedTuple):
    """A plugin as the server knows it; `default` says whether it is on without a flag."""

    name: str
    default: bool
    part: Part = Part.RENDERED


PLUGINS: Final = (
    PluginName("AlwaysAdmit", False, Part.ABSENT),
    PluginName("NamespaceAutoProvision", False),
    PluginName("NamespaceLifecycle", True),
    PluginName("NamespaceExists", False),
    PluginName("LimitPodHardAntiAffinityTopology", False),
    PluginName("LimitRanger", True),
    PluginName("ServiceAccount", True),
    PluginName("NodeRestriction", False, Part.ABSENT),
    PluginName("TaintNodesByCondition", True),
    PluginName("AlwaysPullImages", False),
    PluginName("ImagePolicyWebhook", False, Part.ABSENT),
    PluginName("PodSecurity", True),
    PluginName("PodNodeSelector", False),
    PluginName("Priority", True),
    PluginName("DefaultTolerationSeconds", True),
    PluginName("PodTolerationRestriction", False),
    PluginName("EventRateLimit", False, Part.ABSENT),
    PluginName("ExtendedResourceToleration", False),
    PluginName("DefaultStorageClass", True),
    PluginName("StorageObjectInUseProtection", True),
    PluginName("PodGroupProtection", True, Part.ABSENT),
    PluginName("OwnerReferencesPermissionEnforcement", False, Part.ABSENT),
    PluginName("PersistentVolumeClaimResize", True),
    PluginName("RuntimeClass", True),
    PluginName("CertificateApproval", True, Part.ABSENT),
    PluginName("CertificateSigning", True, Part.ABSENT),
    PluginName("ClusterTrustBundleAttest", True, Part.ABSENT),
    PluginName("CertificateSubjectRestriction", True),
    PluginName("DefaultIngressClass", True),
    PluginName("DenyServiceExternalIPs", False),
    PluginName("PodTopologyLabels", True),
    PluginName("PodGroupWorkloadExists", True, Part.ABSENT),
    PluginName("NodeDeclaredFeatureValidator", True, Part.ABSENT),
    PluginName("JobValidation", True, Part.ABSENT),
    PluginName("PodResizeValidator", True, Part.ABSENT),
    PluginName("MutatingAdmissionPolicy", True, Part.RULES),
    PluginName("MutatingAdmissionWebhook", True, Part.RULES),
    PluginName("ValidatingAdmissionPolicy", True, Part.RULES),
    PluginName("ValidatingAdmissionWebhook", True, Part.RULES),
    PluginName("ResourceQuota", True),
    PluginName("AlwaysDeny", False, Part.ABSENT),
)

NAMES: Final = {plugin.name: plugin for plugin in PLUGINS}
"""The plugins by name, in their order."""
