"""Go's types of Kubernetes' objects, and what their decoders say of values that they cannot hold.

`names` has what Go calls a type, `leaves` how single values are checked. Manifests reach a type in
one of three ways: `strict` is the decoder of the API server, which knows names in one case only and
complains about unknown ones; `convert` is the converter of unstructured objects; `fold` is
encoding/json as other programs use it, for which names match in any case. Where an object is fine
and nobody asks for errors, the typed round trip (`served`) does the same in less time.
"""
