"""Kyverno's test files (cli.kyverno.io/v1alpha1 Test) as suites, for the API server's policies.

A result is about one policy and some resources: `pass` (it matched, and no validation was unmet; or
it changed the object as expected), `fail` (a validation was not met, whatever the binding does
then), `skip` (it did not match), `warn` (as fail, for a policy that says that it is not scored).
Results about Kyverno's own kinds of policies are skipped with a reason. As Kyverno does, a policy
without a binding is taken for one that is bound to everything.
Source: docs/spec/test.md section 5; https://kyverno.io/docs/kyverno-cli/usage/test.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any, Final

from krm_fn.admission import Operation, User
from krm_fn.config.fields import Section
from krm_fn.config.options import Context, Idempotency, Inline, ObjectForm, Options
from krm_fn.errors import ConfigError, InputError
from krm_fn.sdk.object import yaml_of
from krm_fn.system.paths import Base, base_of, expand_paths, manifests
from krm_fn.system.reading import read_file
from krm_fn.testing.suite import Case, Expectation, ExpectedVerdict, Source, Suite, Text
from krm_fn.values import Json, get
from krm_fn.wire import Item, read_stream

NAME: Final = "kyverno-test.yaml"
_GROUP: Final = "admissionregistration.k8s.io"
_KINDS: Final = {
    "isValidatingAdmissionPolicy": "ValidatingAdmissionPolicy",
    "isMutatingAdmissionPolicy": "MutatingAdmissionPolicy",
}
_RESULTS: Final = ("pass", "fail", "skip", "warn")
_IGNORED: Final = (
    "generatedResource",
    "cloneSourceResource",
    "isDeletingPolicy",
    "isGeneratingPolicy",
    "isImageValidatingPolicy",
    "isMutatingPolicy",
    "isNamespacedValidatingPolicy",
    "isValidatingPolicy",
)
_UNSUPPORTED: Final = ("checks", "exceptions", "jsonPayload", "targetResources")
_UNSCORED: Final = ("metadata", "annotations", "policies.kyverno.io/scored")


def is_kyverno(item: Item) -> bool:
    """Whether a document is a test of Kyverno's."""
    return item.head.kind == "Test" and item.head.group in ("cli.kyverno.io", "kyverno.io")


def read_kyverno(file: str, item: Item, value: Json) -> Suite:
    """The suite that a test file of Kyverno's stands for. Raises ConfigError."""
    return _Reader(file, item).suite(value)


def in_form(suite: Suite, form: ObjectForm) -> Suite:
    """A suite of Kyverno's in which rules see objects in another form; others stay as they are."""
    cases = tuple(
        case._replace(options=case.options._replace(object_form=form))
        if case.expect.verdict is not None
        else case
        for case in suite.cases
    )
    return suite._replace(cases=cases)


class _Reader:
    """Reads one test file."""

    def __init__(self, file: str, item: Item) -> None:
        self._file = file
        self._item = item
        self._base: Base = base_of(file)
        self._files: dict[str, None] = {file: None}

    def suite(self, value: Json) -> Suite:
        document = Section(value, "", self._file)
        for name in ("apiVersion", "kind"):
            document.raw(name)
        name = document.section("metadata").string("name") or document.string("name")
        policies = self._texts(document, "policies")
        resources = self._texts(document, "resources")
        params = self._objects(document, "paramResources")
        cluster = self._objects(document, "clusterResources")
        values = self._values(document)
        context = Context(
            namespaces=tuple(_namespaces(values)),
            objects=(*params, *cluster),
            user=self._user(document),
        )
        unsupported = [name for name in _UNSUPPORTED if document.raw(name)]
        document.boolean("failOnMissingResources", False)  # what is missing fails in any case
        rule_paths, options = self._rules(policies, context)
        sources = tuple(Source(text) for text in resources)
        global_values = values.get("globalValues")
        operation = _operation(global_values if type(global_values) is dict else {})
        cases: list[Case] = []
        for n, section in enumerate(document.sections("results")):
            cases += self._cases(section, n, sources, rule_paths, options, operation)
            section.done()
        document.done()
        if unsupported:
            reason = f"{', '.join(unsupported)}: not of the API server's policies"
            cases = [case._replace(skip=case.skip or reason) for case in cases]
        return Suite(self._file, name or "kyverno", tuple(cases), self._item, tuple(self._files))

    # ---------------------------------------------------------------------------------- results

    def _cases(
        self,
        section: Section,
        n: int,
        sources: tuple[Source, ...],
        rule_paths: tuple[str, ...],
        options: Options,
        operation: str,
    ) -> Iterator[Case]:
        policy, result = section.string("policy"), section.string("result")
        result = result or section.string("status")
        kinds = [kind for field, kind in _KINDS.items() if section.boolean(field, False)]
        kind = section.string("kind")
        section.raw("rule")
        others = [name for name in _IGNORED if section.raw(name)]
        names = list(section.strings("resources"))
        names += [one for one in (section.string("resource"),) if one]
        names += [_spec_name(spec) for spec in section.sections("resourceSpecs")]
        namespace = section.string("namespace")
        patched = section.string("patchedResources") or section.string("patchedResource")
        own = section.string("operation").upper() or operation
        section.string("status")
        if result not in _RESULTS and kinds:
            raise section.error("result", f": {result!r} is not one of {', '.join(_RESULTS)}")
        text = self._text(patched, section.path("patchedResources")) if patched else None
        if own == Operation.UPDATE:
            paths = tuple(os.path.relpath(s.text.name, self._base.folder) for s in sources)
            context = options.context._replace(operation=Operation.UPDATE, old_objects=paths)
            options = options._replace(context=context, base=self._base)
        skip = None
        if not kinds or others:
            skip = f"policy {policy} is no ValidatingAdmissionPolicy or MutatingAdmissionPolicy"
        elif own not in ("CREATE", "UPDATE"):
            skip = f"operation {own} cannot be rendered"
        for name in names or [""]:
            full = f"{namespace}/{name}" if namespace and "/" not in name else name
            wanted = ExpectedVerdict(kinds[0] if kinds else "", policy, kind, full, result, text)
            yield Case(
                f"{policy}: {result} {kind}/{full}" if full else f"{policy}: {result}",
                ("results", n),
                sources,
                rule_paths,
                options,
                Expectation(verdict=wanted),
                skip,
            )

    # ------------------------------------------------------------------------------------- files

    def _text(self, path: str, where: str) -> Text:
        (text,) = self._read((path,), where)
        return text

    def _read(self, paths: Sequence[str], where: str) -> Iterator[Text]:
        for path in expand_paths(paths, where, self._base):
            if not os.path.exists(path.name):
                raise ConfigError(f"{where}: {path.name} does not exist")
            for name in manifests(path.name):
                file = os.path.normpath(name)
                self._files[file] = None
                try:
                    yield Text(file, read_file(file))
                except InputError as error:
                    raise ConfigError(f"{where}: {file}: {error.message}") from None

    def _texts(self, document: Section, field: str) -> list[Text]:
        return list(self._read(document.strings(field), field))

    def _objects(self, document: Section, field: str) -> tuple[Json, ...]:
        texts = self._texts(document, field)
        return tuple(i.value for text in texts for i in read_stream(text.data, text.name).items)

    def _values(self, document: Section) -> Json:
        """The values of a file, or those in the test itself."""
        path = document.string("variables")
        values = document.raw("values") or {}
        if path:
            text = self._text(path, "variables")
            for item in read_stream(text.data, text.name).items:
                values = {**item.value, **values}
        return values if type(values) is dict else {}

    def _user(self, document: Section) -> User:
        path = document.string("userinfo")
        if not path:
            return User()
        text = self._text(path, "userinfo")
        (item,) = read_stream(text.data, text.name).items
        info = Section(item.value, "", text.name).section("userInfo")
        return User(
            info.string("username", User().username),
            info.string("uid"),
            info.strings("groups", User().groups),
        )

    def _rules(self, texts: Sequence[Text], context: Context) -> tuple[tuple[str, ...], Options]:
        """The files with policies of the API server, and bindings for those that have none."""
        policies: list[tuple[str, Json]] = []
        bound: set[str] = set()
        paths: dict[str, None] = {}
        for text in texts:
            for item in read_stream(text.data, text.name).items:
                if item.head.group != _GROUP:
                    continue
                paths[text.name] = None
                if item.head.kind.endswith("Binding"):
                    bound.add(str(get(item.value, ("spec", "policyName"))))
                else:
                    policies.append((item.head.name, item.value))
        bindings = [_binding(value) for name, value in policies if name not in bound]
        options = Options(context=context, idempotency=Idempotency.OFF)
        if bindings:
            inline = Inline("---\n".join(bindings), "bindings to everything", lines=False)
            options = options._replace(rules=(inline,))
        return tuple(paths), options


def _binding(policy: Json) -> str:
    """What binds a policy to everything."""
    spec: Json = {"policyName": policy["metadata"]["name"]}
    if policy["kind"] == _KINDS["isValidatingAdmissionPolicy"]:
        spec["validationActions"] = ["Deny"]
    value = {
        "apiVersion": policy["apiVersion"],
        "kind": f"{policy['kind']}Binding",
        "metadata": {"name": policy["metadata"]["name"]},
        "spec": spec,
    }
    return yaml_of(value)


def _namespaces(values: Json) -> Iterator[Json]:
    """The Namespaces that values name."""
    for namespace in values.get("namespaceSelector") or ():
        metadata: Json = {"name": namespace.get("name"), "labels": namespace.get("labels") or {}}
        yield {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}
    for value in values.get("namespaces") or ():
        yield {"apiVersion": "v1", "kind": "Namespace", **value}


def _operation(values: Json) -> str:
    operation: Any = values.get("request.operation", "CREATE")
    return str(operation).upper()


def _spec_name(spec: Section) -> str:
    name, namespace = spec.string("name"), spec.string("namespace")
    for field in ("group", "version", "resource", "subresource", "apiVersion", "kind"):
        spec.raw(field)
    spec.done()
    return f"{namespace}/{name}" if namespace else name


def is_unscored(policy: Json) -> bool:
    """Whether what a policy finds is a warning to Kyverno."""
    return bool(get(policy, _UNSCORED) == "false")
