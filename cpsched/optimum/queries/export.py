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


def first_program(instance: Instance, policy: Policy) -> cp_model.CpModel:
    """Every constraint of the session, and the first level (its first step) as the objective."""
    snapshot = Snapshot(instance, policy)
    program = SessionModel(snapshot)
    plan = level_plan(snapshot)
    if plan:
        program.cp.minimize(stages_of(program.variables, *plan[0])[0].expr)
    return program.cp


def write_model(instance: Instance, policy: Policy, path: str) -> None:
    """Write the first program: as text if the name says so, else as a binary CpModelProto."""
    proto: Any = first_program(instance, policy).proto
    text = str(proto)
    if path.endswith(TEXT_SUFFIXES):
        write_whole(path, text)
        return
    message: Any = text_format.Parse(text, cp_model_pb2.CpModelProto())
    write_whole(path, message.SerializeToString())
