"""The Admission configuration: what a run does, strictly read from a functionConfig or from flags.

Three forms: a rule itself; a ConfigMap whose data are rules and options as strings; the full form
`krm-fn.dev/v1alpha1 Admission`. Sections of dialects are handed on as they are: each dialect reads
its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import Any, Final, NamedTuple

from krm_fn.admission import Operation, User
from krm_fn.config.dialects import DIALECTS, dialect_of, misspelt_kind, rule_kinds
from krm_fn.config.fields import Section
from krm_fn.errors import ConfigError, did_you_mean
from krm_fn.kube.podtemplates import Places
from krm_fn.kube.selectors import Selector, from_labels, parse_selector, texts
from krm_fn.system.deadline import seconds_of
from krm_fn.system.paths import WORKING_DIRECTORY, Base, base_of
from krm_fn.values import Json, Path
from krm_fn.wire import Head, Item
from krm_fn.wire.words import TEXTS, UNDECIDED

API_VERSION: Final = "krm-fn.dev/v1alpha1"


class Mode(StrEnum):
    MUTATE = "Mutate"
    VALIDATE = "Validate"
    AUDIT = "Audit"


class OnReject(StrEnum):
    FAIL = "Fail"
    WARN = "Warn"
    DROP = "Drop"


class OnRuleError(StrEnum):
    FAIL = "Fail"
    WARN = "Warn"
    AS_CLUSTER = "AsCluster"


class OnEmpty(StrEnum):
    FAIL = "Fail"
    ALLOW = "Allow"


class Idempotency(StrEnum):
    OFF = "Off"
    WARN = "Warn"
    FAIL = "Fail"


class PodTemplates(StrEnum):
    IGNORE = "Ignore"
    MUTATE = "Mutate"
    PREVIEW = "Preview"


class LocalConfig(StrEnum):
    """What becomes of objects that only kpt and kustomize know not to apply."""

    ADMIT = "Admit"
    SKIP = "Skip"


class ObjectForm(StrEnum):
    SERVED = "Served"
    AS_WRITTEN = "AsWritten"


class ObjectSelector(NamedTuple):
    """Objects by what they are; every member that is given must fit."""

    api_version: str = ""
    kind: str = ""
    name: str = ""
    namespace: str = ""
    labels: Selector = Selector()
    annotations: Selector = Selector()

    @property
    def needs_value(self) -> bool:
        """Whether the head alone does not decide."""
        return bool(self.labels.requirements or self.annotations.requirements)

    def fits_head(self, head: Head) -> bool:
        return (
            self.api_version in ("", head.api_version)
            and self.kind in ("", head.kind)
            and self.name in ("", head.name)
            and self.namespace in ("", head.namespace)
        )

    def fits(self, head: Head, value: Json) -> bool:
        if not self.fits_head(head):
            return False
        metadata = value.get("metadata")
        metadata = metadata if type(metadata) is dict else {}
        return self.labels.matches(texts(metadata.get("labels"))) and self.annotations.matches(
            texts(metadata.get("annotations"))
        )


class Match(NamedTuple):
    """Which items are admitted at all: any of `include` (or all), none of `exclude`."""

    include: tuple[ObjectSelector, ...] = ()
    exclude: tuple[ObjectSelector, ...] = ()
    local_config: LocalConfig | None = None
    """For objects with the annotation local-config; None is as the caller has it."""

    @property
    def everything(self) -> bool:
        return not self.include and not self.exclude

    def may_fit(self, head: Head) -> bool:
        """False where the head alone rules the object out."""
        if self.include and not any(s.fits_head(head) for s in self.include):
            return False
        return not any(s.fits_head(head) and not s.needs_value for s in self.exclude)

    def fits(self, head: Head, value: Json) -> bool:
        if self.include and not any(s.fits(head, value) for s in self.include):
            return False
        return not any(s.fits(head, value) for s in self.exclude)


class Inline(NamedTuple):
    """Rules as YAML text, at `path` of what `where` names: a functionConfig, a file, or nothing."""

    text: str
    path: str
    where: str = ""
    lines: bool = True
    """Whether it is a text that its author wrote, so that lines of it say something."""


class Paths(NamedTuple):
    """Rules in files, directories and globs."""

    paths: tuple[str, ...]
    path: str


class FromItems(NamedTuple):
    """Rules among the items, those that the selector fits."""

    selector: Selector


class Itself(NamedTuple):
    """The functionConfig is the rule."""

    item: Item


Source = Inline | Paths | FromItems | Itself


class Context(NamedTuple):
    """What the API server would know and the render does not."""

    operation: Operation = Operation.CREATE
    old_objects: tuple[str, ...] = ()
    default_namespace: str = "default"
    namespaces: tuple[Json, ...] = ()
    objects: tuple[Json, ...] = ()
    user: User = User()
    kubernetes_version: str = ""
    """`1.34`; "" is the newest of which there are schemas."""
    static_manifests: tuple[str, ...] = ()
    """Files and directories that the API server reads policies from when it starts."""
    complete: tuple[str, ...] = ()
    """The kinds of which the context has every object, so that another one is not there."""


COMPLETABLE: Final = ("Namespace", "PriorityClass", "RuntimeClass", "ServiceAccount")
"""The kinds that `context.complete` may name: those that objects refer to by name."""


class Results(NamedTuple):
    """What is reported: a result for each change, and at most so many results."""

    changes: bool = True
    limit: int = 500


class Bounds(NamedTuple):
    """What a run may take as a whole."""

    timeout: float | None = None
    """Seconds; None is for ever."""


_NOWHERE: Final[Places] = {}


class Options(NamedTuple):
    """What a run does. The defaults are those of the documented interface."""

    mode: Mode = Mode.MUTATE
    kustomize_validator: bool = False
    rules: tuple[Source, ...] = ()
    context: Context = Context()
    match: Match = Match()
    on_reject: OnReject = OnReject.FAIL
    on_rule_error: OnRuleError = OnRuleError.FAIL
    on_empty: OnEmpty = OnEmpty.FAIL
    idempotency: Idempotency = Idempotency.WARN
    pod_templates: PodTemplates = PodTemplates.IGNORE
    extra_pod_templates: Places = _NOWHERE
    object_form: ObjectForm = ObjectForm.SERVED
    strict: bool = False
    write_defaults: bool = False
    """Whether what the API server's own plugins set is written, too."""
    results: Results = Results()
    limits: Bounds = Bounds()
    sections: Mapping[str, Any] = {}
    """The dialects' own sections, by name."""
    bindings_from_items: bool = False
    """Whether bindings among the items bind policies that come from elsewhere."""
    base: Base = WORKING_DIRECTORY
    """Where relative paths in the configuration start."""


def from_function_config(item: Item | None) -> Options:
    """The configuration that a functionConfig stands for. Raises ConfigError."""
    if item is None:
        return Options()
    head = item.head
    if dialect_of(head) is not None:
        return Options(rules=(Itself(item),))
    if head.api_version == "v1" and head.kind == "ConfigMap":
        return _from_config_map(item.read_as(TEXTS))
    if head.group == "krm-fn.dev":
        return from_document(item.read_as(UNDECIDED), "functionConfig")
    entry = misspelt_kind(head)
    hint = did_you_mean(head.kind, entry.kinds) if entry else ""
    raise ConfigError(
        f"kind {head.kind or '(none)'} of {head.api_version or '(no apiVersion)'} is no "
        f"configuration{hint}{' Or use' if hint else '; use'} Admission ({API_VERSION}), "
        "a ConfigMap (v1), or a rule "
        f"itself ({', '.join(rule_kinds())})",
        "functionConfig",
    )


def from_file(name: str, item: Item) -> Options:
    """The Admission in a file: errors name its lines, and its paths start in its folder."""
    value = item.read_as(UNDECIDED)
    return from_document(value, name, base_of(name), line=item.line)


def from_document(
    value: Json,
    where: str,
    base: Base = WORKING_DIRECTORY,
    *,
    line: Callable[[Path], int] | None = None,
) -> Options:
    """The full form: `krm-fn.dev/v1alpha1 Admission`; `base` is where its relative paths start.

    `line` is on which line of the file `where` a member stands. Raises ConfigError.
    """
    document = Section(value, "", where, line=line)
    api_version, kind = document.string("apiVersion"), document.string("kind")
    if kind != "Admission":
        hint = did_you_mean(kind, ["Admission"])
        raise document.error("kind", f" {kind} of {api_version} is not known{hint}")
    if api_version != API_VERSION:
        raise document.error("apiVersion", f" {api_version} is not known; use {API_VERSION}")
    document.raw("metadata")
    spec = document.section("spec")
    document.done()
    return _read(spec)._replace(base=base)


def from_spec(value: Json, where: str) -> Options:
    """The spec of an Admission alone. Raises ConfigError."""
    return _read(Section(value, "", where))


def _from_config_map(value: Json) -> Options:
    """Options as strings, nested ones with dots; `rules` and every `*.yaml` are rules."""
    data = value.get("data")
    sources: list[Source] = []
    options: Json = {}
    for key, text in (data if type(data) is dict else {}).items():
        if type(text) is not str:
            raise ConfigError(
                f"data.{key} must be a string (quote it), as in every ConfigMap", "functionConfig"
            )
        if key == "rules" or key.endswith((".yaml", ".yml")):
            sources.append(Inline(text, f"data.{key}", "functionConfig"))
        elif text != "":
            _set_nested(options, key, text)
    spec = Section(options, "data", "functionConfig", texts=True)
    if "rules" in options:
        raise ConfigError("data.rules is a text of rules; it has no members", "functionConfig")
    return _read(spec, tuple(sources))


def _set_nested(options: Json, key: str, text: str) -> None:
    at = options
    *outer, last = key.split(".")
    for step in outer:
        at = at.setdefault(step, {})
        if type(at) is not dict:
            raise ConfigError(f"data.{key}: {step} is there as a value, too", "functionConfig")
    at[last] = text


def _read(spec: Section, sources: tuple[Source, ...] = ()) -> Options:
    results = spec.section("results")
    options = Options(
        mode=spec.choice("mode", Mode.MUTATE),
        kustomize_validator=spec.boolean("kustomizeValidator", False),
        rules=sources or tuple(_source(section) for section in spec.sections("rules")),
        context=_context(spec.section("context")),
        match=_match(spec.section("match")),
        on_reject=spec.choice("onReject", OnReject.FAIL),
        on_rule_error=spec.choice("onRuleError", OnRuleError.FAIL),
        on_empty=spec.choice("onEmpty", OnEmpty.FAIL),
        idempotency=spec.choice("idempotency", Idempotency.WARN),
        pod_templates=spec.choice("podTemplates", PodTemplates.IGNORE),
        extra_pod_templates=_places(spec.sections("extraPodTemplates")),
        object_form=spec.choice("objectForm", ObjectForm.SERVED),
        strict=spec.boolean("strict", False),
        write_defaults=spec.boolean("writeDefaults", False),
        bindings_from_items=spec.boolean("bindingsFromItems", False),
        results=Results(results.boolean("changes", True), results.integer("limit", 500)),
        limits=_limits(spec.section("limits")),
        sections={
            entry.section: spec.section(entry.section)
            for entry in DIALECTS
            if entry.section in spec
        },
    )
    for entry in DIALECTS:
        spec.raw(entry.section)
    results.done()
    spec.done()
    if options.kustomize_validator and options.mode is not Mode.VALIDATE:
        raise spec.error("kustomizeValidator", " needs mode: Validate")
    return options


def _limits(section: Section) -> Bounds:
    text = section.string("timeout")
    section.done()
    try:
        return Bounds(seconds_of(text) if text else None)
    except ValueError as error:
        raise section.error("timeout", f": {error}") from None


def _places(sections: Sequence[Section]) -> Places:
    """Where further kinds have Pod templates: `spec.replicatedJobs[*].template.spec.template`."""
    found: dict[tuple[str, str], tuple[Path, ...]] = {}
    for section in sections:
        group, kind, text = (section.string(name) for name in ("group", "kind", "path"))
        steps = tuple(step for step in text.replace("[*]", ".*").split(".") if step)
        if not kind or not steps:
            raise section.error("path" if kind else "kind", " is required")
        if any("[" in step or "/" in step for step in steps):
            raise section.error("path", f": {text!r} is no dotted path such as spec.jobs[*].pod")
        section.done()
        found[(group, kind)] = (*found.get((group, kind), ()), steps)
    return found


def _source(section: Section) -> Source:
    given = [name for name in ("inline", "paths", "fromItems") if name in section]
    if len(given) != 1:
        raise section.error(
            given[1] if given else "inline", ": give one of inline, paths, fromItems in each entry"
        )
    source: Source
    if given[0] == "inline":
        source = Inline(section.string("inline"), section.path("inline"), section.where)
    elif given[0] == "paths":
        source = Paths(section.strings("paths"), section.told("paths"))
    else:
        inner = section.section("fromItems")
        source = FromItems(parse_selector(inner.string("labelSelector")))
        inner.done()
    for name in ("inline", "paths", "fromItems"):
        section.raw(name)
    section.done()
    return source


def _context(section: Section) -> Context:
    old = section.section("oldObjects")
    user = section.section("user")
    context = Context(
        operation=section.choice("operation", Operation.CREATE),
        old_objects=old.strings("paths"),
        default_namespace=section.string("defaultNamespace") or "default",
        namespaces=tuple(_namespace(s) for s in section.sections("namespaces")),
        objects=tuple(_object(section, n) for n in range(len(section.raw("objects") or ()))),
        user=User(
            user.string("username", User().username),
            user.string("uid"),
            user.strings("groups", User().groups),
            _extra(user),
        ),
        kubernetes_version=_kubernetes_version(section),
        static_manifests=section.strings("staticManifests"),
        complete=section.strings("complete"),
    )
    for kind in context.complete:
        if kind not in COMPLETABLE:
            words = ", ".join(COMPLETABLE)
            hint = did_you_mean(kind, COMPLETABLE)
            raise section.error("complete", f": {kind!r} is not one of {words}{hint}")
    if context.operation is Operation.DELETE:
        raise section.error("operation", ": DELETE cannot be rendered; use CREATE or UPDATE")
    for inner in (old, user, section):
        inner.done()
    return context


def _kubernetes_version(section: Section) -> str:
    try:
        return release_of(section.string("kubernetesVersion"))
    except ValueError as error:
        raise section.error("kubernetesVersion", f": {error}") from None


def release_of(version: str) -> str:
    """`1.34` for `v1.34.2`, "" for "". Raises ValueError for what is no version."""
    parts = version.removeprefix("v").split(".")
    if version and not (len(parts) in (2, 3) and all(p.isascii() and p.isdigit() for p in parts)):
        raise ValueError(f"{version!r} is no version such as 1.34")
    return ".".join(parts[:2])


def _extra(user: Section) -> dict[str, tuple[str, ...]]:
    extra = user.section("extra")
    names = user.raw("extra") or {}
    return {name: extra.strings(name) for name in names}


def _namespace(section: Section) -> Json:
    name = section.string("name")
    if not name:
        raise section.error("name", " is required")
    metadata: Json = {"name": name}
    for key in ("labels", "annotations"):
        given = section.labels(key)
        if given:
            metadata[key] = given
    section.done()
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}


def _object(section: Section, n: int) -> Json:
    objects = section.raw("objects")
    value: Any = objects[n] if type(objects) is list else None
    if type(value) is not dict or type(value.get("kind")) is not str:
        raise section.error(f"objects[{n}]", " must be an object with apiVersion and kind")
    return value


def _match(section: Section) -> Match:
    match = Match(
        tuple(_object_selector(s) for s in section.sections("include")),
        tuple(_object_selector(s) for s in section.sections("exclude")),
        section.choice("localConfig", LocalConfig.ADMIT) if section.raw("localConfig") else None,
    )
    section.done()
    return match


def _object_selector(section: Section) -> ObjectSelector:
    selector = ObjectSelector(
        section.string("apiVersion"),
        section.string("kind"),
        section.string("name"),
        section.string("namespace"),
        from_labels(section.labels("labels")),
        from_labels(section.labels("annotations")),
    )
    section.done()
    return selector
