#!/usr/bin/env python3
"""Sets the values that a comment marks, as kpt's function apply-setters does.

    image: nginx:1.25 # kpt-set: ${image}:${tag}
    hosts: # kpt-set: ${hosts}
    - shop.example.com

The functionConfig is a ConfigMap whose data has the setters; a list is YAML. A setter that is not
given keeps its part of the value.
"""

import re
import sys
from typing import Any

import yaml

from krm_fn.sdk import Field, KubeObject, MissingFnConfigError, ResourceList, as_main

MARK = "kpt-set: "
SETTER = re.compile(r"\$\{([^}]+)\}")


def apply_setters(rl: ResourceList) -> bool:
    if rl.function_config is None:
        raise MissingFnConfigError
    setters = rl.function_config.nested_string_map("data")
    used = set()
    for obj in rl.items:
        for path, comment in obj.line_comments().items():
            if comment.startswith(MARK):
                used |= apply(obj, path, comment.removeprefix(MARK).strip(), setters, rl)
    for name in sorted(setters.keys() - used):
        rl.results.warning(f"no comment names the setter {name}")
    return not rl.results.failed


def apply(
    obj: KubeObject,
    path: tuple[str | int, ...],
    pattern: str,
    setters: dict[str, str],
    rl: ResourceList,
) -> set[str]:
    """Set one value; returns the setters that its pattern names."""
    old = obj.nested(*path)
    names = SETTER.findall(pattern)
    if not setters.keys() & set(names):
        return set(names)
    try:
        new = render(pattern, old, setters)
    except (ValueError, yaml.YAMLError) as error:
        rl.results.error(f"{pattern}: {error}", obj, Field.at(path))
        return set(names)
    if new != old:
        obj.set_nested(new, *path)
        rl.results.info(f"set by {', '.join(names)}", obj, Field.at(path, old, new))
    return set(names)


def render(pattern: str, old: Any, setters: dict[str, str]) -> Any:
    """The value that a pattern makes of the setters, and of the value that is there."""
    names = SETTER.findall(pattern)
    if isinstance(old, list):
        new = yaml.safe_load(setters[names[0]])
        if len(names) > 1 or not isinstance(new, list):
            raise ValueError("one setter with a list is needed")
        return new
    now = "true" if old is True else "false" if old is False else str(old)
    parts = re.split(r"\$\{[^}]+\}", pattern)
    match = re.fullmatch("(.*)".join(map(re.escape, parts)), now)
    if match is None and not setters.keys() >= set(names):
        raise ValueError(f"the value {now} does not fit, and not every setter is given")
    kept = dict(zip(names, match.groups(), strict=True)) if match else {}
    text = SETTER.sub(lambda name: setters.get(name[1], kept.get(name[1], "")), pattern)
    return text if isinstance(old, str) else yaml.safe_load(text)


if __name__ == "__main__":
    sys.exit(as_main(apply_setters))
