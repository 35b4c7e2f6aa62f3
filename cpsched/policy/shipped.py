"""The models that come with the package, by name."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from cpsched.policy.model import Model
from cpsched.policy.notes import Notes, known, shown
from cpsched.policy.shapes import plain, validated

PACKAGE = Path(__file__).resolve().parent.parent


def models_folder() -> Path:
    """Where the shipped models lie: inside the package in a wheel, beside it in a checkout."""
    inside, beside = PACKAGE / "models", PACKAGE.parent / "models"
    return inside if inside.is_dir() else beside


def model_names() -> tuple[str, ...]:
    """Names of the shipped models."""
    return tuple(sorted(path.stem for path in models_folder().glob("*.yaml")))


def is_shipped(model: Model) -> bool:
    """Whether this is a model that comes with the package, not one that only bears its name."""
    return model.name in model_names() and _shipped(model.name) == model


@cache
def _shipped(name: str) -> Model:
    return load_model(name)


def stated_model(name: str, *, file: str) -> str:
    """The shipped model that a document names; a model file is read only if the user names it."""
    if name not in model_names():
        right = f"known: {', '.join(model_names())}; a model file is read only if you name it with --model"
        raise Notes(file).error(f"{shown(name)} is not a shipped model", place="model", right=right)
    return name


def load_model(model: str | Mapping[str, Any], *, file: str | None = None) -> Model:
    """A shipped model by its name, or a model from the mapping that its file holds."""
    if isinstance(model, str):
        if model not in model_names():
            raise Notes(file).error(f"unknown model {shown(model)}", right=known(model, model_names()))
        path = models_folder() / f"{model}.yaml"
        return load_model(yaml.safe_load(path.read_text(encoding="utf-8")), file=str(path))
    if not isinstance(model, Mapping):
        raise Notes(file).error(f"{shown(model)} is not a model", right="write name, scheduler and levels")
    return validated(Model, plain(model), Notes(file, strict=True))
