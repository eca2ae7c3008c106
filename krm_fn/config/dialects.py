"""Which kinds are rules, and of which dialect; which objects nobody may touch.

`krm_fn.run` alone resolves the modules named here, for the kinds at hand: a dialect that no rule
uses is not loaded.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from krm_fn.wire import Head


class DialectEntry(NamedTuple):
    """A dialect: its kinds, its section in the configuration, where its code is.

    `versions` are the apiVersions that its rules may have.
    """

    name: str
    group: str
    versions: tuple[str, ...]
    kinds: tuple[str, ...]
    section: str
    target: str
    whole_group: bool = True
    """Whether the group has no other kinds, so that another one is a slip of the pen."""
    binding_kinds: tuple[str, ...] = ()
    """Kinds that say how the rules apply: bindings. They are no rules, and no targets either."""
    shareable: bool = False
    """Whether its plugins hold nothing of the cluster that they were compiled for, but for the
    definitions of custom kinds: a run that knows another cluster may then use them, too."""
    has_rules: bool = True
    """Whether it is for rules; one that is not takes part by what is known of the cluster."""


BUILT_IN: Final = "admissionPlugins"
"""The section of the one dialect without rules: the API server's own admission plugins."""

DIALECTS: Final = (
    DialectEntry(
        name="policies",
        group="admissionregistration.k8s.io",
        versions=(
            "admissionregistration.k8s.io/v1",
            "admissionregistration.k8s.io/v1beta1",
            "admissionregistration.k8s.io/v1alpha1",
        ),
        kinds=("MutatingAdmissionPolicy", "ValidatingAdmissionPolicy"),
        section="policies",
        target="krm_fn.dialects.policies:DIALECT",
        shareable=True,
        whole_group=False,
        binding_kinds=("MutatingAdmissionPolicyBinding", "ValidatingAdmissionPolicyBinding"),
    ),
    DialectEntry(
        name="modrule",
        group="api.kubemod.io",
        versions=("api.kubemod.io/v1beta1",),
        kinds=("ModRule",),
        section="modRules",
        target="krm_fn.dialects.modrule:DIALECT",
        shareable=True,
    ),
    DialectEntry(
        name="sidecarset",
        group="apps.kruise.io",
        versions=("apps.kruise.io/v1beta1", "apps.kruise.io/v1alpha1"),
        kinds=("SidecarSet",),
        section="sidecarSets",
        target="krm_fn.dialects.sidecarset:DIALECT",
        whole_group=False,
    ),
    DialectEntry(
        name="appmesh",
        group="supergloo.solo.io",
        versions=("supergloo.solo.io/v1",),
        kinds=("Mesh",),
        section="appMesh",
        target="krm_fn.dialects.appmesh:DIALECT",
        shareable=True,
        whole_group=False,
    ),
    DialectEntry(
        name="kubewarden",
        group="policies.kubewarden.io",
        versions=("policies.kubewarden.io/v1", "policies.kubewarden.io/v1alpha2"),
        kinds=(
            "ClusterAdmissionPolicy",
            "AdmissionPolicy",
            "ClusterAdmissionPolicyGroup",
            "AdmissionPolicyGroup",
        ),
        section="kubewarden",
        target="krm_fn.dialects.kubewarden:DIALECT",
    ),
    DialectEntry(
        name="builtin",
        group="",
        versions=(),
        kinds=(),
        section=BUILT_IN,
        target="krm_fn.dialects.builtin:DIALECT",
        whole_group=False,
        has_rules=False,
    ),
)

_BY_KIND: Final = {(entry.group, kind): entry for entry in DIALECTS for kind in entry.kinds}
_BY_BINDING: Final = {
    (entry.group, kind): entry for entry in DIALECTS for kind in entry.binding_kinds
}

_NEVER_TARGETS: Final = frozenset(
    {("kpt.dev", "Kptfile"), ("krm-fn.dev", "Admission"), ("krm-fn.dev", "Suite")}
)
_NEVER_TARGET_GROUPS: Final = frozenset(
    {"kustomize.config.k8s.io", "builtin", "config.kubernetes.io", "config.kpt.dev"}
)


def dialect_of(head: Head) -> DialectEntry | None:
    """The dialect that an object is a rule of, or None."""
    return _BY_KIND.get((head.group, head.kind))


def reader_of(head: Head) -> DialectEntry | None:
    """The dialect whose rules an object says something about, without being one, or None."""
    return _BY_BINDING.get((head.group, head.kind))


def is_target(head: Head) -> bool:
    """Whether rules may see the object at all: no rule, no Kptfile, nothing of kustomize's."""
    key = (head.group, head.kind)
    if key in _BY_KIND or key in _BY_BINDING or key in _NEVER_TARGETS:
        return False
    # The built-in transformers of kustomize have the apiVersion `builtin`, without a group.
    return head.group not in _NEVER_TARGET_GROUPS and head.api_version != "builtin"


def is_configuration(head: Head) -> bool:
    """Whether an object configures admission itself: a policy of Kubernetes', or its binding.

    In a cluster nobody but static policies is asked about those.
    """
    entry = dialect_of(head) or reader_of(head)
    return entry is not None and entry.name == _KUBERNETES


_KUBERNETES: Final = "policies"


def rule_kinds() -> list[str]:
    """All kinds of rules, for messages."""
    return [kind for entry in DIALECTS for kind in entry.kinds]


def misspelt_kind(head: Head) -> DialectEntry | None:
    """The dialect whose group an object has without being one of its kinds."""
    if dialect_of(head) is not None:
        return None
    entries = (entry for entry in DIALECTS if entry.group == head.group and entry.whole_group)
    return next(entries, None)
