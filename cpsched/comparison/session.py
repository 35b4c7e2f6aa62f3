"""A session: a case with its cluster and its policy, ready to be decided."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from cpsched.importers.policy import Configuration, load_policies, load_policy
from cpsched.importers.recorded import RecordedOutcome, outcomes
from cpsched.instance import Instance
from cpsched.options import Options
from cpsched.policy import Policy
from cpsched.together import of_engines

if TYPE_CHECKING:
    from cpsched.importers.corpus import Case
    from cpsched.what_if.changes import Changes


@dataclass(frozen=True)
class CaseOptions:
    """What the user says about every case alike; None leaves it to the case."""

    model: Configuration | None = None
    conf: Configuration | None = None
    lenient: bool = False
    kube_version: str | None = None
    pod_groups: bool = False
    allow_extenders: bool | None = None
    strict: bool = True
    """Whether faults in the file of a case are errors."""
    changes: Changes | None = None
    """What is changed in every cluster before anything is decided."""


@dataclass(frozen=True)
class Session:
    """One cluster under one policy, and what is recorded about it."""

    id: str
    instance: Instance
    policy: Policy
    outcomes: tuple[RecordedOutcome, ...] = ()
    only: str | None = None
    pod_groups: bool = False
    file: str = ""
    line: int | None = None

    @property
    def mirror(self) -> str:
        """The engine that mirrors the scheduler which the model is made for."""
        return "kube" if self.policy.is_kube else "volcano"

    def options(self, engine: str, options: Options) -> Options:
        """The options as this engine takes them: only engine kube tries one pod or schedules pod groups."""
        only, groups = (self.only, self.pod_groups) if engine == "kube" else (None, False)
        return replace(options, only=only, pod_groups=groups)


def open_session(case: Case, given: CaseOptions) -> Session:
    """Load a case; what the user says comes before what the case says."""
    instance = _loaded(case, given)
    policy = load_policy(_model(case, given), given.conf, stated=case.conf, **_terms(given, instance))
    return _session(case, given, instance, policy)


def open_sessions(case: Case, given: CaseOptions, engines: Collection[str]) -> list[Session]:
    """The same, and where pods of two schedulers wait a session for each; the second has its scheduler in its id.

    Engines of which one mirrors a scheduler are asked about that one alone. Rows and cases with a decision are sessions
    of one scheduler: the recorder knew whose.
    """
    if case.row is not None or outcomes(case):
        return [open_session(case, given)]
    instance = _loaded(case, given)
    policies = load_policies(_model(case, given), given.conf, **_terms(given, instance))
    sessions = [_session(case, given, instance, policy) for policy in of_engines(engines, policies)]
    return [*sessions[:1], *(replace(one, id=f"{one.id} ({one.mirror})") for one in sessions[1:])]


def _loaded(case: Case, given: CaseOptions) -> Instance:
    return case.load(lenient=given.lenient, strict=given.strict, changes=given.changes)


def _model(case: Case, given: CaseOptions) -> Configuration | None:
    return given.model if given.model is not None else case.model


def _terms(given: CaseOptions, instance: Instance) -> dict[str, Any]:
    return {
        "instance": instance,
        "lenient": given.lenient,
        "kube_version": given.kube_version,
        "allow_extenders": given.allow_extenders,
    }


def _session(case: Case, given: CaseOptions, instance: Instance, policy: Policy) -> Session:
    groups = given.pod_groups or case.stated.get("pod_groups") is True
    return Session(case.id, instance, policy, outcomes(case), case.only, groups, case.file, case.line)
