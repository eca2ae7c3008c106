"""A functions SDK for Python: write a KRM function in a few lines.

    import sys
    from krm_fn.sdk import ResourceList, as_main, is_gvk

    def add_team(rl: ResourceList) -> bool:
        for obj in rl.items.where(is_gvk("apps", "", "Deployment")):
            obj.set_label("team", "checkout")
        rl.results.infof("%d objects", len(rl.items))
        return True

    sys.exit(as_main(add_team))

The names are those of kpt's Go SDK. What a function does not touch leaves byte for byte as it came.
"""

from krm_fn.sdk.object import (
    FieldTypeError,
    InternalAnnotationError,
    KubeObject,
    KubeObjects,
    Predicate,
    SubObject,
    has_annotations,
    has_labels,
    is_gvk,
    is_meta_resource,
    is_name,
    is_namespace,
    not_,
)
from krm_fn.sdk.resourcelist import (
    DuplicateResourceError,
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
    error_result,
    general_result,
)
from krm_fn.sdk.run import (
    MissingFnConfigError,
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
    logf,
    run,
)

__all__ = [
    "DuplicateResourceError",
    "Field",
    "FieldTypeError",
    "File",
    "InternalAnnotationError",
    "KubeObject",
    "KubeObjects",
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
    "error_result",
    "execute",
    "general_result",
    "has_annotations",
    "has_labels",
    "is_gvk",
    "is_meta_resource",
    "is_name",
    "is_namespace",
    "log",
    "logf",
    "not_",
    "parse_resource_list",
    "run",
]
