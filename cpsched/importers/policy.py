"""The policy of one run: a model by name, file or as the input asks for, a configuration by file or from the input."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

from cpsched.files import read_document, read_documents
from cpsched.importers.chosen import TITLES, Choice, beside, choose, of_other
from cpsched.instance import Instance
from cpsched.parsing import Document
from cpsched.policy import Model, Origin, Policy, load_model, model_names, models_folder, policy_for, recognise

Configuration = str | os.PathLike[str] | Mapping[str, Any]


def load_policy(  # noqa: PLR0913 - the names of the command line's flags
    model: Configuration | None = None,
    conf: Configuration | None = None,
    *,
    instance: Instance | None = None,
    lenient: bool = False,
    kube_version: str | None = None,
    stated: Mapping[str, Any] | None = None,
    allow_extenders: bool | None = None,
    model_file: str = "",
    strict: bool = False,
    subject: str | None = None,
) -> Policy:
    """The model under `conf`, else under what the input states, else under the model's.

    This is the one place that says whether a configuration may open connections.

    Args:
        model: the name of a shipped model, a path, or the mapping that such a file holds; None: as the input asks for.
        conf: a scheduler's configuration: a path, or the mapping that such a file holds.
        instance: whose own configuration holds if `conf` is None.
        lenient: no effect here; what is unknown in a configuration is a warning or a doubt of the policy anyway.
        kube_version: release of kube-scheduler, if another than the model's.
        stated: a configuration that comes with the input in place of the instance's own.
        allow_extenders: whether HTTP extenders are asked; None: only those that `conf` names, since no input and no
            model may choose where a user's cluster is sent. The others are left out, with a doubt in the warnings.
        model_file: where a model that is given as a mapping comes from.
        strict: what is unknown or not mirrored in a configuration is an InputError.
        subject: the pod or job that is asked about, where there is only one.
    """
    file, given = _configuration(conf, stated, instance)
    choice = choose(instance, given, file, subject) if model is None else Choice("")
    found, model_file = _model(choice.model if model is None else model, model_file)
    unused = _unused(found, given) if model is not None and conf is stated is None else ()
    given = None if unused else given
    origin = Origin(model_file, *_whose(found, conf, given), choice.reason, choice.by)
    policy = policy_for(found, given, strict=strict, kube_version=kube_version, file=file, origin=origin)
    if instance is not None:
        origin = replace(origin, beside=(*unused, *beside(instance, policy)))
        policy = policy.model_copy(update={"origin": origin})
    allowed = conf is not None if allow_extenders is None else allow_extenders
    return policy if allowed else policy.without_extenders(file if given is not None else f"model {policy.name}")


def load_policies(
    model: Configuration | None = None,
    conf: Configuration | None = None,
    *,
    instance: Instance,
    lenient: bool = False,
    kube_version: str | None = None,
    allow_extenders: bool | None = None,
    subject: str | None = None,
) -> tuple[Policy, ...]:
    """One policy for each mirrored scheduler whose pods wait, the input's own first.

    It is one alone where the user names a model, or asks about one pod or job. The arguments are those of load_policy.
    A configuration holds for the scheduler that it is made for; the other one has what the input brings for it, or its
    default.
    """
    terms: dict[str, Any] = {"lenient": lenient, "kube_version": kube_version, "allow_extenders": allow_extenders}
    first = load_policy(model, conf, instance=instance, subject=subject, **terms)
    another = of_other(instance, first) if model is subject is None else None
    if another is None:
        return (first,)
    second = load_policy(another.model, instance=instance, **terms)
    second = second.model_copy(update={"origin": replace(second.origin, chosen=another.reason, chosen_by=another.by)})
    return tuple(
        one.model_copy(update={"origin": replace(one.origin, beside=tuple(beside(instance, one, other)))})
        for one, other in ((first, second), (second, first))
    )


def _unused(model: Model, given: Mapping[str, Any] | None) -> tuple[str, ...]:
    """Says that the input's configuration is another scheduler's than that of a model which the user names."""
    scheduler = model.scheduler if given is None else recognise(given).scheduler
    if scheduler == model.scheduler:
        return ()
    return (f"the configuration in the input is {TITLES[scheduler]}'s, and model {model.name} does not use it",)


def _configuration(
    conf: Configuration | None, stated: Mapping[str, Any] | None, instance: Instance | None
) -> tuple[str, Mapping[str, Any] | None]:
    if isinstance(conf, str | os.PathLike):
        return read_conf(conf)
    if conf is not None or stated is not None:
        return "conf", stated if conf is None else conf
    if instance is None or instance.conf is None:
        return "conf", None
    return f"{instance.file or 'input'}: conf", instance.conf


def _whose(
    model: Model, conf: Configuration | None, given: Mapping[str, Any] | None
) -> tuple[Literal["named", "input", "model", "default"], str]:
    """Whose configuration holds, and the file of one that the user named."""
    if conf is not None:
        return "named", os.fspath(conf) if isinstance(conf, str | os.PathLike) else ""
    if given is not None:
        return "input", ""
    return ("default" if model.conf is None else "model"), ""


def read_conf(path: str | os.PathLike[str]) -> Document:
    """The file of a scheduler's configuration; of several documents one holds it, so they are taken as a list."""
    documents = read_documents(path)
    if len(documents) == 1:
        return documents[0]
    return Document(os.fspath(path), {"kind": "List", "items": [document.data for document in documents]})


def is_model_file(model: str | os.PathLike[str]) -> bool:
    """Whether a model is named by its file; a shipped model's name never is."""
    name = os.fspath(model)
    return name not in model_names() and (isinstance(model, os.PathLike) or os.sep in name or "." in name)


def model_content(model: str | os.PathLike[str]) -> Document:
    """What a model's file holds, and the file."""
    name = os.fspath(model)
    if is_model_file(model):
        return read_document(name)
    load_model(name)
    return read_document(models_folder() / f"{name}.yaml")


def _model(model: Configuration, file: str) -> tuple[Model, str]:
    """The model, and the file that it comes from."""
    if isinstance(model, Mapping):
        return load_model(model, file="model"), file
    if not is_model_file(model):
        return load_model(os.fspath(model)), ""
    document = read_document(model)
    return load_model(document.data, file=document.file), document.file
