"""Where a policy comes from: a shipped model or a user's file, and whose configuration holds."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import Literal

from cpsched.policy.model import Model
from cpsched.policy.shipped import is_shipped, model_names

_PLAIN = re.compile("[A-Za-z0-9._-]+")
"""Names in which no character can stand for another that looks alike."""


@dataclass(frozen=True)
class Origin:
    """What a policy was made of."""

    model_file: str = ""
    """Of a model that is not shipped; empty for a mapping."""
    conf: Literal["named", "input", "model", "default"] = "default"
    """Named by the user, the input's own, the model's own, or the scheduler's default."""
    conf_file: str = ""
    """Of a configuration that the user named."""
    chosen: str = ""
    """Why this model, where the input decided it; empty if the user did."""
    chosen_by: str = ""
    """The kind of that reason, also where it is nothing but the default; empty if the user named the model."""
    beside: tuple[str, ...] = ()
    """Pods of the input that the model decides nothing about, as warnings."""


def model_title(model: Model, file: str) -> str:
    """The model's name; one that could be taken for a shipped model without being it says where it comes from."""
    is_distinct = _PLAIN.fullmatch(model.name) and model.name.casefold() not in model_names()
    if is_distinct or is_shipped(model):
        return model.name
    return f"{model.name} (from {os.path.basename(file) or 'a mapping'})"
