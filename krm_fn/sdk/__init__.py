"""A functions SDK for Python: write a KRM function in a few lines.

    import sys
    from krm_fn.sdk import ResourceList, as_main, is_gvk

    def add_team(rl: ResourceList) -> bool:
        for obj in rl.items.where(is_gvk("apps", "", "Deployment")):
            obj.set_label("team", "checkout")
        rl.results.info(f"{len(rl.items)} objects")
        return True

    sys.exit(as_main(add_team))

The names are those of kpt's Go SDK. What a function does not touch leaves byte for byte as it came.
"""

from krm_fn.sdk.object import KubeObject, new_from_typed, parse_kube_object
from krm_fn.sdk.objects import KubeObjects, Predicate, parse_kube_objects
from krm_fn.sdk.predicates import (
    has_annotations,
    has_labels,
    is_group_kind,
    is_group_version_kind,
    is_gvk,
    is_local_config,
    is_meta_resource,
    is_name,
    is_namespace,
    is_namespace_scoped,
    not_,
)
from krm_fn.sdk.resourcelist import (
    DuplicateResourceError,
    MissingFnConfigError,
    NotAResourceListError,
    ResourceList,
    check_resource_duplication,
    parse_resource_list,
)
from krm_fn.sdk.result import (
    Field,
    File,
    ResourceRef,
    Result,
    Results,
    Severity,
    config_file_result,
    config_object_result,
    error_config_file_result,
    error_config_object_result,
    error_result,
    general_result,
)
from krm_fn.sdk.run import (
    ResourceListProcessor,
    ResourceListProcessorFunc,
    Runner,
    WithContext,
    apply_fn_by_selector,
    as_main,
    chain,
    chain_functions,
    execute,
    log,
    run,
)
from krm_fn.sdk.subobject import (
    FieldTypeError,
    InternalAnnotationError,
    Match,
    SubObject,
)

__all__ = [
    "DuplicateResourceError",
    "Field",
    "FieldTypeError",
    "File",
    "InternalAnnotationError",
    "KubeObject",
    "KubeObjects",
    "Match",
    "MissingFnConfigError",
    "NotAResourceListError",
    "Predicate",
    "ResourceList",
    "ResourceListProcessor",
    "ResourceListProcessorFunc",
    "ResourceRef",
    "Result",
    "Results",
    "Runner",
    "Severity",
    "SubObject",
    "WithContext",
    "apply_fn_by_selector",
    "as_main",
    "chain",
    "chain_functions",
    "check_resource_duplication",
    "config_file_result",
    "config_object_result",
    "error_config_file_result",
    "error_config_object_result",
    "error_result",
    "execute",
    "general_result",
    "has_annotations",
    "has_labels",
    "is_group_kind",
    "is_group_version_kind",
    "is_gvk",
    "is_local_config",
    "is_meta_resource",
    "is_name",
    "is_namespace",
    "is_namespace_scoped",
    "log",
    "new_from_typed",
    "not_",
    "parse_kube_object",
    "parse_kube_objects",
    "parse_resource_list",
    "run",
]
