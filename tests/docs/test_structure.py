"""The shape of the package: how many modules one module imports, names of classes, the picture of the rooms."""

from __future__ import annotations

import ast
from collections import Counter
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

ROOT = Path(__file__).parents[2]
CODE = sorted((ROOT / "cpsched").rglob("*.py"))
MOST_IMPORTS = 12
"""Modules of the package that a module of the optimum may import."""

WIDE = {
    "cpsched/optimum/relax/bounding.py": 13,
}
"""Modules that import more, and how many; the list only shrinks. It joins model, solvers and relaxation."""

REPEATED = {
    **dict.fromkeys(("ClaimStatus", "JobSpec", "JobState", "JobStatus", "VolumeSpec"), "as in the objects' schemas"),
    **dict.fromkeys(("Node", "Queue", "ReplicaSet", "StatefulSet"), "the object, and what is made of it"),
    **dict.fromkeys(("Snapshot", "Status", "Session"), "upstream's word for another thing than ours"),
    "Case": "a case of a corpus, and the case of a certificate's level",
    "Decided": "a part of a certificate's schema, and what an engine decided",
    "Demand": "a topology's, and that of a query",
    "Level": "a model's entry, and a solution's; both are names in schemas",
    "Options": "an engine's own, and those of all engines",
    "Table": "a plain one, and a report's with tones and links",
    "Victims": "a part of an explanation's schema, a mirror's, and a certificate's",
    "Waiting": "a part of an explanation's schema, and a certificate's",
}
"""Public class names that stand in more than one module, with the reason; the list only shrinks."""


def test_no_module_of_the_optimum_imports_many() -> None:
    wide = {}
    for path in CODE:
        name = str(path.relative_to(ROOT))
        if name.startswith("cpsched/optimum/"):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            modules = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
            count = sum((module or "").startswith("cpsched.optimum") for module in modules)
            if count > MOST_IMPORTS:
                wide[name] = count
    assert wide == WIDE


def repeated(trees: list[ast.Module]) -> set[str]:
    """Public names of classes at the top of more than one module."""
    names = Counter(
        node.name
        for tree in trees
        for node in tree.body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    return {name for name, count in names.items() if count > 1}


def test_names_of_classes_are_repeated_only_for_a_reason() -> None:
    assert repeated([ast.parse(path.read_text(encoding="utf-8")) for path in CODE]) == set(REPEATED)
    optimum = [path for path in CODE if "optimum" in path.parts]
    assert repeated([ast.parse(path.read_text(encoding="utf-8")) for path in optimum]) == set()


def test_repeated_names_are_found() -> None:
    one, other = ast.parse("class A: ...\nclass _B: ...\n"), ast.parse("class A: ...\nclass _B: ...\nclass C: ...\n")
    assert repeated([one, other]) == {"A"}


def test_the_picture_of_the_rooms_is_as_the_imports_are() -> None:
    spec = spec_from_file_location("optimum_imports", ROOT / "docs" / "images" / "optimum_imports.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    picture = ROOT / "docs" / "images" / "optimum_imports.svg"
    assert picture.read_text(encoding="utf-8") == module.drawn(), "python docs/images/optimum_imports.py"
