"""The policy of one run: a model by name or file, a configuration by file or from the instance."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from cpsched.files import read_document
from cpsched.instance import Instance
from cpsched.policy import Model, Policy, load_model, model_names, policy_for

Configuration = str | os.PathLike[str] | Mapping[str, Any]


def load_policy(
    model: Configuration = "volcano",
    conf: Configuration | None = None,
    *,
    instance: Instance | None = None,
    lenient: bool = False,
    kube_version: str | None = None,
) -> Policy:
    """The model under `conf`, else under the instance's own configuration, else under the model's.

    Args:
        model: the name of a shipped model, a path, or the mapping that such a file holds.
        conf: a scheduler's configuration: a path, or the mapping that such a file holds.
        instance: whose own configuration holds if `conf` is None.
        lenient: what is unknown in a configuration becomes a warning of the policy.
        kube_version: release of kube-scheduler, if another than the model's.
    """
    file, given = _configuration(conf, instance)
    return policy_for(_model(model), given, lenient=lenient, kube_version=kube_version, file=file)


def _configuration(conf: Configuration | None, instance: Instance | None) -> tuple[str, Mapping[str, Any] | None]:
    if isinstance(conf, str | os.PathLike):
        return read_document(conf)
    if conf is not None or instance is None or instance.conf is None:
        return "conf", conf
    return f"{instance.file or 'input'}: conf", instance.conf


def _model(model: Configuration) -> Model:
    if isinstance(model, Mapping):
        return load_model(model, file="model")
    name = os.fspath(model)
    is_path = isinstance(model, os.PathLike) or os.sep in name or "." in name
    if name in model_names() or not is_path:
        return load_model(name)
    document = read_document(name)
    return load_model(document.data, file=document.file)
