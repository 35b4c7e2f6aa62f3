"""What a change of the cluster changes: pods that the optimum treats otherwise than in the cluster as given."""

from __future__ import annotations

from cpsched.report.bars import WORDS
from cpsched.report.document import Section, Text, table
from cpsched.report.scene import Fate, Scene

ABSENT = "not in the cluster"


def changed_section(before: Scene, after: Scene) -> Section:
    """A table of these pods; those that are alike are one row."""
    alike: dict[tuple[str, str, str], list[str]] = {}
    for key in dict.fromkeys([*before.instance.tasks, *after.instance.tasks]):
        (words, node), (new_words, new_node) = (_fate(scene, key) for scene in (before, after))
        if (words, node) == (new_words, new_node):
            continue
        if words == new_words:
            words, new_words = f"{words} on {node}", f"{new_words} on {new_node}"
        task = (after if key in after.instance.tasks else before).instance.tasks[key]
        alike.setdefault((task.group or key, words, new_words), []).append(key)
    if not alike:
        return Section("changed", "What the changes change", (Text("The optimum treats every pod as before."),))
    rows = [
        (names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} alike", *texts)
        for (_, *texts), names in alike.items()
    ]
    columns = ("pod", "in the cluster as given", "with the changes")
    return Section(
        "changed", "What the changes change", (table("Pods that the optimum treats otherwise", columns, rows),)
    )


def _fate(scene: Scene, key: str) -> tuple[str, str]:
    """What the last decision of the scene, the optimum's, does with the pod, and on which node."""
    task = scene.instance.tasks.get(key)
    if task is None:
        return ABSENT, ""
    fate, node = scene.views[-1].fate(task)
    return WORDS.get(fate, "stays pending" if fate is Fate.PENDING else "has ended"), node
