"""patchPodMetadata, and the annotations that Kruise's controllers read."""

from __future__ import annotations

import pytest
from sidecarset_support import Injected, inject, pod, sidecar_set

from krm_fn.dialects.sidecarset.sets import SidecarSet
from krm_fn.errors import ConfigError

TAIL = "containers: [{name: tail, image: 'tail:1'}]"


def patches(*entries: str, name: str = "s1") -> SidecarSet:
    return sidecar_set(f"patchPodMetadata: [{', '.join(entries)}]", name)


def entry(policy: str, **annotations: str) -> str:
    pairs = ", ".join(f"{key}: '{value}'" for key, value in annotations.items())
    return f"{{annotations: {{{pairs}}}, patchPolicy: {policy}}}"


def annotated(*sets: SidecarSet, **annotations: str) -> Injected:
    return inject(*sets, into=pod(annotations=annotations))


# TestPatchPodMetadata


def test_a_pod_without_annotations_gets_them() -> None:
    done = inject(patches(entry("Retain", key1="value1"), entry("Overwrite", key2="value2")))
    assert done.annotations == {"key1": "value1", "key2": "value2"}


def test_retain_leaves_what_is_there_even_if_it_is_empty() -> None:
    done = annotated(patches(entry("Retain", key1="new", key2="new")), key1="old", key2="")
    assert done.annotations == {"key1": "old", "key2": ""}


def test_overwrite_overwrites() -> None:
    assert annotated(patches(entry("Overwrite", k="new")), k="old").annotations == {"k": "new"}


def test_no_policy_is_retain() -> None:
    done = annotated(patches("{annotations: {k: new}}"), k="old")
    assert done.annotations == {"k": "old"}


def test_json_is_merged() -> None:
    merge = entry("MergePatchJson", key1='{"log-agent":1}', key2='{"envoy":2}', key3='{"probe":5}')
    done = annotated(patches(merge), key1='{"log-agent":1}', key2='{"log-agent":1}')
    assert done.annotations == {
        "key1": '{"log-agent":1}',
        "key2": '{"envoy":2,"log-agent":1}',
        "key3": '{"probe":5}',
    }


def test_a_merge_that_changes_nothing_is_no_change() -> None:
    done = annotated(patches(entry("MergePatchJson", k='{"a":1}')), k='{"a":1}')
    assert not done.changed


def test_sets_see_each_others_patches() -> None:
    first = patches(entry("MergePatchJson", k='{"b":1}'), name="a")
    second = patches(entry("MergePatchJson", k='{"a":2}'), name="b")
    assert inject(second, first).annotations == {"k": '{"a":2,"b":1}'}


@pytest.mark.parametrize(
    ("existing", "patch", "reason"),
    [
        ("notjson", '{"a":1}', "Invalid JSON Document"),
        ('{"a":1}', "5", "Invalid JSON Patch"),
    ],
)
def test_a_merge_that_fails_refuses_the_pod(existing: str, patch: str, reason: str) -> None:
    done = annotated(patches(entry("MergePatchJson", oom=patch)), oom=existing)
    assert done.error == f"SidecarSet s1: annotation oom: {reason}"
    assert not done.changed


def test_a_patch_that_is_stored_stays_as_it_is_spelled() -> None:  # A50
    one = patches(entry("MergePatchJson", k='{"log-agent": 1}'))
    once = inject(one)
    assert once.annotations == {"k": '{"log-agent": 1}'}
    assert not inject(one, into=once.pod).changed


def test_a_patch_that_is_no_json_stays_in_a_second_run() -> None:
    one = patches(entry("MergePatchJson", k="no json"))
    once = inject(one)
    assert not inject(one, into=once.pod).findings


def test_what_two_merges_left_stays_with_its_nulls() -> None:
    sets = [
        patches(entry("MergePatchJson", k='{"a": null, "b": 1}'), name="one"),
        patches(entry("MergePatchJson", k='{"c": 2}'), name="two"),
    ]
    once = inject(*sets)
    assert once.annotations == {"k": '{"a":null,"b":1,"c":2}'}
    assert not inject(*sets, into=once.pod).changed


def test_an_unknown_policy_has_no_effect() -> None:  # A53
    assert not inject(patches(entry("Replace", k="v"))).changed


def test_metadata_only_leaves_the_containers_alone() -> None:
    both = sidecar_set(f"{TAIL}\npatchPodMetadata: [{entry('Retain', k='v')}]")
    done = inject(both, inject="MetadataOnly")
    assert done.annotations == {"k": "v"}
    assert done.names() == ["nginx"]


# ------------------------------------------------------------------------------- bookkeeping


def test_nothing_is_written_for_controllers_by_default() -> None:  # C13
    assert inject(sidecar_set(TAIL)).annotations == {}


def test_the_list_names_all_sets_that_match() -> None:  # TestSidecarSetNameInject
    sets = [
        sidecar_set(TAIL, "sidecarset1"),
        sidecar_set(f"selector: {{matchLabels: {{app: other}}}}\n{TAIL}", "sidecarset2"),
        sidecar_set("containers: [{name: b, image: b}]", "sidecarset3"),
    ]
    done = inject(*sets, bookkeeping="List")
    assert done.annotations == {"kruise.io/sidecarset-injected-list": "sidecarset1,sidecarset3"}


def test_full_bookkeeping_tells_hashes_with_the_time_that_is_given() -> None:
    one = sidecar_set("containers: [{name: dns-f, image: 'dns:1.0'}]")
    done = inject(one, bookkeeping="Full", timestamp="2026-01-31T12:00:00Z")
    record = (
        '{"s1":{"updateTimestamp":"2026-01-31T12:00:00Z","hash":"%s","sidecarSetName":"s1",'
        '"sidecarList":["dns-f"]}}'
    )
    hashed = "6wbd76bd7984x24fb4f44fv9222cw9v9bcf85x766744wddd4zwx927zzz2zb684"
    assert done.annotations["kruise.io/sidecarset-hash"] == record % hashed
    assert done.annotations["kruise.io/sidecarset-injected-list"] == "s1"


@pytest.mark.parametrize("timestamp", ["", "today"])
def test_full_bookkeeping_wants_a_time(timestamp: str) -> None:
    with pytest.raises(ConfigError, match="timestamp"):
        inject(sidecar_set(TAIL), bookkeeping="Full", timestamp=timestamp)


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("oops", "invalid character 'o' looking for beginning of value"),
        ('{"a":5}', "json: cannot unmarshal number into Go value of type string"),
        ("[]", "json: cannot unmarshal array into Go value of type map[string]string"),
    ],
)
def test_a_hash_that_cannot_be_read_refuses_the_pod(value: str, reason: str) -> None:
    key = "kruise.io/sidecarset-hash"
    full = {"bookkeeping": "Full", "timestamp": "2026-01-31T12:00:00Z"}
    done = inject(sidecar_set(TAIL), into=pod(annotations={key: value}), **full)
    where = f"pod(default/test-pod) invalid annotations[{key}] value {value}"
    assert done.error == f"{where}, unmarshal failed: {reason}"


def test_the_first_form_of_the_hash_is_brought_up_to_date() -> None:
    full = {"bookkeeping": "Full", "timestamp": "2026-01-31T12:00:00Z"}
    given = pod(annotations={"kruise.io/sidecarset-hash": '{"old":"h"}'})
    done = inject(sidecar_set(TAIL), into=given, **full)
    assert done.annotations["kruise.io/sidecarset-hash"].startswith(
        '{"old":{"updateTimestamp":null,"hash":"h","sidecarSetName":"old","sidecarList":null},"s1"'
    )
