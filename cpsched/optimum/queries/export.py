"""The CP-SAT model as a file, for those who want to look at it or give it to another solver."""

from __future__ import annotations

from typing import Any

from google.protobuf import text_format
from ortools.sat import cp_model_pb2
from ortools.sat.python import cp_model

from cpsched.files import write_whole
from cpsched.instance import Instance
from cpsched.objectives import level_plan
from cpsched.optimum.model.objective import stages_of
from cpsched.optimum.model.session_model import SessionModel
from cpsched.policy import Policy
from cpsched.snapshot import Snapshot

TEXT_SUFFIXES = (".txt", ".textproto")


def first_model(instance: Instance, policy: Policy) -> cp_model.CpModel:
    """Every constraint of the session, and the first level (its first step) as the objective."""
    snapshot = Snapshot(instance, policy)
    model = SessionModel(snapshot)
    plan = level_plan(snapshot)
    if plan:
        model.cp.minimize(stages_of(model.variables, *plan[0])[0].expr)
    return model.cp


def write_model(instance: Instance, policy: Policy, path: str) -> None:
    """Write the first model: as text if the name ends so, else as a binary CpModelProto."""
    proto: Any = first_model(instance, policy).proto
    text = str(proto)
    if path.endswith(TEXT_SUFFIXES):
        write_whole(path, text)
        return
    message: Any = text_format.Parse(text, cp_model_pb2.CpModelProto())
    write_whole(path, message.SerializeToString())
