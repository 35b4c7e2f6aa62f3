"""HiGHS on the same rows, in a child process that can be stopped at any moment.

The child is a plain interpreter fed through pipes: it never imports the caller's main module, as multiprocessing would.
"""

from __future__ import annotations

import pickle
import queue
import subprocess
import sys
import threading
from dataclasses import dataclass
from datetime import timedelta
from math import inf
from typing import IO, Any

from cpsched.optimum.rows import Rows

TOLERANCE = 1e-6
_FAR_FROM_WHOLE = 1e-4


@dataclass(frozen=True)
class Answer:
    """What HiGHS found: whole values of all variables, if any, and a bound on the objective."""

    values: list[int] | None
    bound: float | None
    optimal: bool


class Racer:
    """One child process, kept for all levels; a question it has not answered when it is not wanted any more ends it."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._answers: queue.Queue[Answer] = queue.Queue()

    def ask(self, rows: Rows, seconds: float) -> None:
        """Start solving; a child that is gone simply never answers."""
        if self._process is None or self._process.poll() is not None:
            self._start()
        assert self._process is not None
        assert self._process.stdin is not None
        try:
            pickle.dump((rows, seconds), self._process.stdin)
            self._process.stdin.flush()
        except OSError:
            self.stop()

    def answer(self, patience: float = 0.0) -> Answer | None:
        """The answer if it has come, or comes within so many seconds."""
        try:
            return self._answers.get(timeout=patience) if patience else self._answers.get_nowait()
        except queue.Empty:
            return None

    def stop(self) -> None:
        """Kill the child and whatever it is at."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
        self._process = None
        self._answers = queue.Queue()

    def _start(self) -> None:
        self.stop()
        command = [sys.executable, "-c", "from cpsched.optimum.highs import serve; serve()"]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True
        )
        threading.Thread(target=_listen, args=(self._process.stdout, self._answers), daemon=True).start()


def _listen(stream: IO[bytes], answers: queue.Queue[Answer]) -> None:
    while True:
        try:
            answers.put(pickle.load(stream))
        except (EOFError, OSError, ValueError, pickle.UnpicklingError):
            return


def serve() -> None:
    """The child: answer questions from stdin on stdout until there are no more."""
    questions, answers = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr
    while True:
        try:
            rows, seconds = pickle.load(questions)
        except EOFError:
            return
        try:
            found = solve(rows, seconds)
        except Exception:
            # A racer that stumbles is no racer: the other engine decides.
            found = Answer(None, None, False)
        pickle.dump(found, answers)
        answers.flush()


def solve(rows: Rows, seconds: float) -> Answer:
    """Solve the rows with HiGHS in this process."""
    from ortools.math_opt.python import mathopt

    model: Any = mathopt.Model.from_model_proto(_proto(rows))
    exact = {"relative_gap_tolerance": 0.0, "absolute_gap_tolerance": 0.0}
    limits = mathopt.SolveParameters(time_limit=timedelta(seconds=seconds), **exact)
    result = mathopt.solve(model, mathopt.SolverType.HIGHS, params=limits)
    optimal = result.termination.reason == mathopt.TerminationReason.OPTIMAL
    variables = list(model.variables())
    values = _whole_values(result.variable_values(variables)) if result.has_primal_feasible_solution() else None
    return Answer(values, result.dual_bound(), optimal and values is not None)


def _proto(rows: Rows) -> Any:
    """The rows as MathOpt's own message: a few long arrays instead of thousands of Python expressions."""
    from ortools.math_opt import model_pb2

    proto: Any = model_pb2.ModelProto()
    variables, limits, matrix = proto.variables, proto.linear_constraints, proto.linear_constraint_matrix
    variables.ids.extend(range(len(rows.bounds)))
    variables.lower_bounds.extend(low for low, _ in rows.bounds)
    variables.upper_bounds.extend(high for _, high in rows.bounds)
    variables.integers.extend([True] * len(rows.bounds))
    limits.ids.extend(range(len(rows.rows)))
    limits.lower_bounds.extend(-inf if row.lower is None else row.lower for row in rows.rows)
    limits.upper_bounds.extend(inf if row.upper is None else row.upper for row in rows.rows)
    for number, row in enumerate(rows.rows):
        terms = sorted(row.terms.items())
        matrix.row_ids.extend([number] * len(terms))
        matrix.column_ids.extend(variable for variable, _ in terms)
        matrix.coefficients.extend(coefficient for _, coefficient in terms)
    objective = sorted(rows.objective.items())
    proto.objective.linear_coefficients.ids.extend(variable for variable, _ in objective)
    proto.objective.linear_coefficients.values.extend(coefficient for _, coefficient in objective)
    proto.objective.offset = rows.offset
    return proto


def _whole_values(found: list[float]) -> list[int] | None:
    values = [round(value) for value in found]
    far = any(abs(value - whole) > _FAR_FROM_WHOLE for value, whole in zip(found, values, strict=True))
    return None if far else values
