"""SuperGloo's injector for AWS App Mesh, as SuperGloo v0.3.22's webhook works.

`messages` reads Meshes as protobuf's JSON is read, `meshes` says which Pods one is for, `patch`
makes containers of a ConfigMap's template (with `yamltext` and `gotypes`, which read what it
renders), `plugin` is the webhook, `dialect` puts these together.
"""

from krm_fn.dialects.appmesh.dialect import DIALECT

__all__ = ["DIALECT"]
