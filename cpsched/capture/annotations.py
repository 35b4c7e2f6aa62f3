"""How annotations of schedulers read with pseudonyms in them: which parts of their texts are names."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

from cpsched.hardware import cpus, gpu_share, vgpu

Word = Callable[[str], str]
"""A name's pseudonym."""

_NO_NAME = re.compile(r"true|false|hard|soft|[-+\d.,/%]*|(?:\d+(?:\.\d+)?(?:ns|us|ms|s|m|h|d))+")
_STRATEGY, _TASKS = "volcano.sh/resource-strategy", "volcano.sh/task-topology"
_PART = re.compile(r"[^,;:\s]+")


def unless_number(text: str, word: Word) -> str:
    """A number, a share, a time or a yes stays."""
    return text if _NO_NAME.fullmatch(text) else word(text)


def _name(text: str, word: Word) -> str:
    return word(text)


def _as_it_is(text: str, _: Word) -> str:
    return text


def _list(text: str, word: Word) -> str:
    """Names with commas, semicolons or colons between them."""
    return _PART.sub(lambda part: unless_number(part[0], word), text)


def _cards(text: str, word: Word) -> str:
    """Cards with colons or semicolons between them: of each the uuid is a name, the rest are numbers and its type."""
    return re.sub(r"[^:;]+", lambda card: _card(card[0], word), text)


def _card(text: str, word: Word) -> str:
    uuid, *rest = text.split(",")
    return ",".join([word(uuid) if uuid.strip() else uuid, *rest])


def _by_name(text: str, word: Word) -> str:
    """JSON by names; what is none cannot be read by the scheduler either."""
    try:
        stated = json.loads(text)
    except (ValueError, RecursionError):
        return word(text)
    return json.dumps({word(name): item for name, item in stated.items()}) if isinstance(stated, dict) else text


FORMS: dict[str, Callable[[str, Word], str]] = {
    **dict.fromkeys(("kubernetes.io/arch", "kubernetes.io/os", "volcano.sh/preemptable"), _as_it_is),
    **dict.fromkeys(("storage.alpha.kubernetes.io/migrated-plugins", cpus.POLICY), _as_it_is),
    **dict.fromkeys((f"{_STRATEGY}-scoring-type", f"{_STRATEGY}-weight"), _as_it_is),
    **dict.fromkeys((vgpu.MODE, vgpu.SPREAD, vgpu.USE_TYPE, vgpu.NO_TYPE), _as_it_is),
    **dict.fromkeys((vgpu.REGISTER, vgpu.IDS), _cards),
    **dict.fromkeys((vgpu.USE_UUID, vgpu.NO_UUID, gpu_share.UNHEALTHY), _list),
    **dict.fromkeys((f"{_TASKS}-affinity", f"{_TASKS}-anti-affinity", f"{_TASKS}-task-order"), _list),
    "volcano.sh/nodegroup-resource-limits": _by_name,
    "scheduling.k8s.io/group-name": _name,
    "scheduling.volcano.sh/queue-name": _name,
    "volcano.sh/hierarchy": _name,
    "volcano.sh/queue-name": _name,
    "volcano.sh/task-spec": _name,
    "volume.kubernetes.io/selected-node": _name,
}
"""Annotations whose texts have a form; of any other one a number stays, and all else is a name."""
