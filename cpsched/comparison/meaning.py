"""The question that an optimum answers: instance, policy, and all code and solvers that decide which one is best."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.metadata import version
from pathlib import Path

import cpsched.version
from cpsched.files import read_bytes
from cpsched.instance import Instance
from cpsched.policy import Policy

SHOWING = ("cli", "comparison", "explanation", "gate", "lab", "pytest_plugin.py", "report")
"""Parts that no engine imports. All others count, so that a new one need not be listed to be noticed."""
_SOLVERS = ("ortools", "highspy")


def question_key(instance: Instance, policy: Policy) -> str:
    """A hash; another one if the answer may be another one."""
    parts = (instance.sha256, policy.sha256, cpsched.version.__version__, *map(version, _SOLVERS), code_sha256())
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def deciding_files() -> list[Path]:
    """Every module that can have a say in which decision is best."""
    root = Path(cpsched.version.__file__).parent
    return [file for file in sorted(root.rglob("*.py")) if file.relative_to(root).parts[0] not in SHOWING]


@cache
def code_sha256() -> str:
    """Hash of what those modules say: a checkout changes without a new version."""
    digest = hashlib.sha256()
    for file in deciding_files():
        digest.update(read_bytes(file))
    return digest.hexdigest()
