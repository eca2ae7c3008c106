"""What Argo CD tells a config management plugin, and what an Application may choose.

Parameters come from whoever can edit an Application, who need not be the plugin's owner: so paths
stay inside its folder, and where the plugin brings rules of its own an Application cannot make them
weaker.
Source: Argo CD cmpserver/plugin/plugin.go, util/argo/argo.go (environment), the parameter
announcement of ConfigManagementPlugin.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from krm_fn.cli.flags import Flags, word
from krm_fn.config.options import (
    Mode,
    ObjectForm,
    OnReject,
    OnRuleError,
    Options,
    Paths,
    PodTemplates,
)
from krm_fn.errors import ConfigError, did_you_mean
from krm_fn.system.paths import is_below
from krm_fn.values import Json

TOOLS: Final = ("kustomize", "helm", "directory")
_VARIABLE: Final = "ARGOCD_ENV_KRM_FN_"
"""`plugin.env` of an Application: `KRM_FN_ON_REJECT` arrives as `ARGOCD_ENV_KRM_FN_ON_REJECT`."""


class Shape(StrEnum):
    """The form of a parameter's value, as Argo CD calls it."""

    STRING = "string"
    ARRAY = "array"
    MAP = "map"


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of the plugin. `strictness`: it could make the plugin's own rules weaker."""

    name: str
    title: str
    tooltip: str
    shape: Shape = Shape.STRING
    words: type[StrEnum] | None = None
    default: str = ""
    strictness: bool = False


PARAMETERS: Final = (
    Parameter(
        "tool", "Tool", "kustomize, helm or directory; without it, what the folder looks like."
    ),
    Parameter(
        "rules", "Rules", "Files and folders with rules, in the Application's folder.", Shape.ARRAY
    ),
    Parameter("mode", "Mode", "What to do with edits and denials.", words=Mode, strictness=True),
    Parameter("on-reject", "On a denial", "What it does.", words=OnReject, strictness=True),
    Parameter(
        "on-rule-error",
        "On a rule that fails",
        "What it does.",
        words=OnRuleError,
        strictness=True,
    ),
    Parameter(
        "object-form",
        "Object form",
        "What rules see: the object as the API server shows it, or as it is written.",
        words=ObjectForm,
        strictness=True,
    ),
    Parameter(
        "pod-templates",
        "Pod templates",
        "Whether templates are admitted as the Pods that controllers make of them.",
        words=PodTemplates,
        strictness=True,
    ),
    Parameter(
        "namespace-labels",
        "Labels of the namespace",
        "Those of the destination namespace, which selectors of rules ask for.",
        Shape.MAP,
        strictness=True,
    ),
    Parameter("directory-recurse", "Recurse", "true: a directory's folders, too.", default="false"),
    Parameter("helm-values-files", "Values files", "Of the chart, in its repository.", Shape.ARRAY),
    Parameter("helm-set", "Values", "Of the chart: path of a value, value.", Shape.MAP),
)


Value = str | list[str] | dict[str, str]


@dataclass(frozen=True, slots=True)
class Application:
    """The Application that is rendered."""

    name: str = "release-name"
    namespace: str = ""
    kube_version: str = ""
    api_versions: tuple[str, ...] = ()
    root: str = ""
    """The real path of the repository, which the working directory is in."""
    given: Mapping[str, Value] = field(default_factory=dict)
    """The parameters that it sets."""

    def text(self, name: str) -> str:
        value = self.given.get(name, "")
        assert isinstance(value, str)
        return value

    def texts(self, name: str) -> list[str]:
        value = self.given.get(name, [])
        assert isinstance(value, list)
        return value

    def texts_by_key(self, name: str) -> dict[str, str]:
        value = self.given.get(name, {})
        assert isinstance(value, dict)
        return value


def application(environment: Mapping[str, str], flags: Flags) -> Application:
    """What the environment says. Raises ConfigError for a parameter that there is not, or not here.

    `options` are those of the plugin's own command.
    """
    given = dict(_from_variables(environment))
    given.update(_from_parameters(environment.get("ARGOCD_APP_PARAMETERS", "")))
    fixed = bring_rules(flags)
    for parameter in PARAMETERS:
        if parameter.name not in given:
            continue
        if fixed and parameter.strictness:
            raise ConfigError(
                f"parameter {parameter.name} is the plugin's to set, since it brings rules "
                "of its own; remove it from the Application"
            )
    return Application(
        environment.get("ARGOCD_APP_NAME", "") or "release-name",
        environment.get("ARGOCD_APP_NAMESPACE", ""),
        environment.get("KUBE_VERSION", ""),
        tuple(v for v in environment.get("KUBE_API_VERSIONS", "").split(",") if v),
        _root(environment.get("ARGOCD_APP_SOURCE_PATH", "")),
        given,
    )


def bring_rules(flags: Flags) -> bool:
    """Whether the plugin's command has rules: how strict they are is then its own, too."""
    return bool(flags.rules or flags.config)


def _root(path: str) -> str:
    """The repository: the working directory without the Application's path in it."""
    folder = os.path.realpath(".")
    parts = [part for part in path.split("/") if part not in ("", ".")]
    for part in reversed(parts):
        if os.path.basename(folder) != part:
            return os.path.realpath(".")
        folder = os.path.dirname(folder)
    return folder


def _from_variables(environment: Mapping[str, str]) -> Iterator[tuple[str, Value]]:
    by_name = {p.name.upper().replace("-", "_"): p for p in PARAMETERS}
    for variable, text in sorted(environment.items()):
        if not variable.startswith(_VARIABLE):
            continue
        name = variable.removeprefix(_VARIABLE)
        if name not in by_name:
            hint = did_you_mean(name, list(by_name))
            raise ConfigError(f"{variable} is not known{hint}")
        parameter = by_name[name]
        parts = [part.strip() for part in text.split(",") if part.strip()]
        if parameter.shape is Shape.STRING:
            yield parameter.name, _word(parameter, text, variable)
        elif parameter.shape is Shape.ARRAY:
            yield parameter.name, parts
        else:
            if any("=" not in part for part in parts):
                raise ConfigError(f"{variable}: {text} is not of the form key=value,key=value")
            yield parameter.name, dict(part.split("=", 1) for part in parts)


def _from_parameters(text: str) -> Iterator[tuple[str, Value]]:
    """Those of `ARGOCD_APP_PARAMETERS`: a JSON list of {name, string|array|map}."""
    where = "ARGOCD_APP_PARAMETERS"
    try:
        entries = json.loads(text or "[]")
    except ValueError as error:
        raise ConfigError(f"is not JSON: {error}", where) from None
    if entries is None:
        return
    if not isinstance(entries, list) or not all(isinstance(e, dict) for e in entries):
        raise ConfigError("is not a list of parameters", where)
    by_name = {p.name: p for p in PARAMETERS}
    for entry in entries:
        name = str(entry.get("name", ""))
        if name not in by_name:
            raise ConfigError(f"parameter {name} is not known{did_you_mean(name, list(by_name))}")
        yield name, _value(by_name[name], entry)


def _value(parameter: Parameter, entry: Mapping[str, Any]) -> Value:
    value = entry.get(parameter.shape.value)
    where = f"parameter {parameter.name}"
    if parameter.shape is Shape.STRING and isinstance(value, str):
        return _word(parameter, value, where)
    if parameter.shape is Shape.ARRAY and isinstance(value, list) and _all_texts(value):
        return list(value)
    if parameter.shape is Shape.MAP and isinstance(value, dict) and _all_texts(value.values()):
        return dict(value)
    raise ConfigError(f"{where} must be given as {parameter.shape.value}")


def _all_texts(values: Iterable[Any]) -> bool:
    return all(isinstance(value, str) for value in values)


def _word(parameter: Parameter, text: str, where: str) -> str:
    words: Sequence[str] = [word.value for word in parameter.words or ()]
    if parameter.name == "tool":
        words = TOOLS
    elif parameter.name == "directory-recurse":
        words = ("true", "false")
    for known in words:
        if known.lower() == text.lower():
            return known
    if text and words:
        raise ConfigError(f"{where}: {text} is none of {', '.join(words)}")
    return text


# ------------------------------------------------------------------------------- what comes of it


def configured(app: Application, flags: Flags, options: Options) -> Options:
    """The configuration of the plugin with what the Application says. Raises ConfigError."""
    changes: dict[str, Any] = {}
    for name, words in (
        ("mode", Mode),
        ("on-reject", OnReject),
        ("on-rule-error", OnRuleError),
        ("object-form", ObjectForm),
        ("pod-templates", PodTemplates),
    ):
        if app.text(name):
            changes[name.replace("-", "_")] = word(words, app.text(name))
    context = options.context
    if app.namespace and not flags.namespace:
        context = context._replace(default_namespace=app.namespace)
    labels = app.texts_by_key("namespace-labels")
    if labels:
        metadata: Json = {"name": context.default_namespace, "labels": labels}
        namespace: Json = {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}
        context = context._replace(namespaces=(*context.namespaces, namespace))
    version = app.kube_version.removeprefix("v").split(".")
    if not context.kubernetes_version and len(version) > 1 and all(v.isdigit() for v in version):
        context = context._replace(kubernetes_version=".".join(version[:2]))
    return options._replace(context=context, **changes)


def author_rules(app: Application) -> Paths | None:
    """The rules that the Application brings, in its own folder."""
    names = tuple(app.texts("rules"))
    return Paths(names, "parameter rules") if names else None


def helm_options(app: Application) -> list[str]:
    """What `helm template` is told of the cluster and of the chart's values. Raises ConfigError."""
    options = [f"--kube-version={app.kube_version}"] if app.kube_version else []
    options += [f"--api-versions={version}" for version in app.api_versions]
    for path in app.texts("helm-values-files"):
        where = "parameter helm-values-files"
        # Helm splits at commas and fetches what has a scheme.
        if any(char in path for char in ",:") or not path.isprintable() or path.startswith("-"):
            raise ConfigError(
                f"{where}: {path!r}: a name has no comma, no colon, no dash in front and nothing "
                "that does not print; rename the file"
            )
        if os.path.isabs(path) or not is_below(path, app.root):
            raise ConfigError(f"{where}: {path} is outside the repository")
        if not os.path.isfile(path):
            raise ConfigError(f"{where}: {path} does not exist")
        options.append(f"--values={path}")
    values = app.texts_by_key("helm-set")
    return [*options, *(_set_string(key, text) for key, text in sorted(values.items()))]


def _set_string(key: str, text: str) -> str:
    """Set one value of a chart to one text: what Helm's parser reads otherwise is escaped.

    Source: Helm pkg/strvals/parser.go.
    """
    if not key or any(char in key for char in ",={}") or not key.isprintable():
        raise ConfigError(f"parameter helm-set: {key!r} is no path of a value, such as image.tag")
    escaped = re.sub(r"([\\,{}])", r"\\\1", text)
    return f"--set-string={key}={escaped}"


def announcement(flags: Flags) -> list[Json]:
    """What Argo CD's UI shows: the parameters that an Application of this plugin may set."""
    fixed = bring_rules(flags)
    return [
        {
            "name": parameter.name,
            "title": parameter.title,
            "tooltip": _tooltip(parameter),
            "collectionType": parameter.shape.value,
            parameter.shape.value: _announced(parameter),
        }
        for parameter in PARAMETERS
        if not (fixed and parameter.strictness)
    ]


def _tooltip(parameter: Parameter) -> str:
    if parameter.words is None:
        return parameter.tooltip
    return f"{parameter.tooltip} {', '.join(word.value for word in parameter.words)}."


def _announced(parameter: Parameter) -> Value:
    if parameter.words is not None:
        return str(getattr(Options(), parameter.name.replace("-", "_")).value)
    if parameter.shape is Shape.STRING:
        return parameter.default
    return [] if parameter.shape is Shape.ARRAY else {}


__all__ = [
    "Application",
    "announcement",
    "application",
    "author_rules",
    "configured",
    "helm_options",
]
