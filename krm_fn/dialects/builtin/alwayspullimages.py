"""AlwaysPullImages: nobody runs an image that only another Pod on the node may pull.

Source: plugin/pkg/admission/alwayspullimages.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from krm_fn.admission import Operation, Request, Response
from krm_fn.dialects.builtin.listers import Listers
from krm_fn.dialects.builtin.plugin import PODS, BuiltIn, InternalError, forbidden_text
from krm_fn.dialects.builtin.pods import containers, located, with_containers, with_spec
from krm_fn.lang.go.strconv import quote
from krm_fn.values import Json, Path, format_path, get

_ALWAYS: Final = "Always"


class AlwaysPullImages(BuiltIn):
    """Sets the pull policy of all images to Always."""

    name = "AlwaysPullImages"
    kinds = PODS

    def admit(self, request: Request, listers: Listers) -> Response:
        if not _has_new_images(request):
            return Response()
        spec = with_containers(request.object["spec"], _pulled)
        volumes = spec.get("volumes") or []
        pulled = [_pulled_volume(volume) for volume in volumes]
        if any(new is not old for new, old in zip(pulled, volumes, strict=True)):
            spec = {**spec, "volumes": pulled}
        return self.changed(request, with_spec(request.object, spec))

    def validate(self, request: Request, listers: Listers) -> Response:
        if not _has_new_images(request):
            return Response()
        wrong = list(_wrong(request.object["spec"]))
        if wrong:
            texts = dict.fromkeys(forbidden_text(request, text) for _, text in wrong)
            # Several errors, or one, as one error that is none of the API's.
            message = next(iter(texts)) if len(texts) == 1 else f"[{', '.join(texts)}]"
            raise InternalError(message, wrong[0][0])
        return Response()


def _has_new_images(request: Request) -> bool:
    if request.operation is Operation.CREATE:
        return True
    if request.operation is not Operation.UPDATE or request.old_object is None:
        return False
    old = {container["image"] for container in _with_image(request.old_object)}
    return any(container["image"] not in old for container in _with_image(request.object))


def _with_image(pod: Json) -> Iterator[Json]:
    for container in containers(pod["spec"]):
        yield {"image": container.get("image", "")}


def _pulled(container: Json) -> Json:
    if container.get("imagePullPolicy") == _ALWAYS:
        return container
    return {**container, "imagePullPolicy": _ALWAYS}


def _pulled_volume(volume: Json) -> Json:
    image = volume.get("image")
    if image is None or image.get("pullPolicy") == _ALWAYS:
        return volume
    return {**volume, "image": {**image, "pullPolicy": _ALWAYS}}


def _wrong(spec: Json) -> Iterator[tuple[Path, str]]:
    """The pull policies that are not Always, each with what the server says of it."""
    for path, container in located(spec):
        policy = container.get("imagePullPolicy", "")
        if policy != _ALWAYS:
            yield _unsupported((*path, "imagePullPolicy"), policy)
    for n, volume in enumerate(spec.get("volumes") or ()):
        policy = get(volume, ("image", "pullPolicy"), "")
        if "image" in volume and policy != _ALWAYS:
            yield _unsupported(("spec", "volumes", n, "image", "pullPolicy"), policy)


def _unsupported(path: Path, policy: str) -> tuple[Path, str]:
    said = f"Unsupported value: {quote(policy)}: supported values: {quote(_ALWAYS)}"
    return path, f"{format_path(path)}: {said}"
