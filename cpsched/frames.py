"""Instances, Solutions, Certificates and studies as tables: a DataFrame of pandas, or HTML for a notebook."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from html import escape
from typing import TYPE_CHECKING, Any

from cpsched.errors import InputError
from cpsched.visible import visible

if TYPE_CHECKING:
    from pandas import DataFrame

    from cpsched.instance import Instance
    from cpsched.solution import Solution

Row = Mapping[str, Any]
Tables = Mapping[str, Callable[[], Iterable[Row]]]
MOST_ROWS = 20
"""A notebook shows so many rows of each table."""


class Framed(ABC):
    """Whatever has tables; the first one is what a user most likely wants."""

    @abstractmethod
    def _tables(self) -> Tables: ...

    @abstractmethod
    def _headline(self) -> str: ...

    def to_dataframe(self, table: str | None = None) -> DataFrame:
        """One of its tables as a DataFrame; without a name the first."""
        import pandas

        tables = self._tables()
        name = next(iter(tables)) if table is None else table
        if name not in tables:
            raise InputError(f"no table {name!r}", right=f"one of {', '.join(tables)}")
        return pandas.DataFrame(list(tables[name]()))

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {visible(self._headline())}>"

    def _repr_html_(self) -> str:
        parts = [f"<p><strong>{_text(self._headline())}</strong></p>"]
        parts += [_table(name, list(rows())) for name, rows in self._tables().items()]
        return "".join(parts)


def _table(name: str, rows: list[Row]) -> str:
    if not rows:
        return ""
    head = "".join(f'<th scope="col">{_text(column)}</th>' for column in rows[0])
    body = "".join(
        f"<tr>{''.join(f'<td>{_text(cell)}</td>' for cell in row.values())}</tr>" for row in rows[:MOST_ROWS]
    )
    more = f"; the first {MOST_ROWS} of {len(rows):,}" if len(rows) > MOST_ROWS else ""
    return f"<table><caption>{_text(name)}{more}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _text(value: object) -> str:
    return "" if value is None else escape(visible(str(value)))


def headline_of_instance(instance: Instance) -> str:
    """What is in it, in numbers."""
    counts = ((instance.nodes, "nodes"), (instance.jobs, "jobs"), (instance.tasks, "tasks"))
    return f"{instance.file or 'unnamed'}: {', '.join(f'{len(things):,} {name}' for things, name in counts)}"


def tables_of_instance(instance: Instance) -> Tables:
    """Jobs, tasks, nodes and queues; amounts are in the units of `cpsched.resources`."""
    return {
        "jobs": lambda: (
            {
                "job": job.key,
                "queue": job.queue,
                "priority": job.priority,
                "minimum": job.min_available,
                "tasks": len(job.tasks),
                "phase": job.phase,
            }
            for job in instance.jobs.values()
        ),
        "tasks": lambda: (
            {
                "task": task.key,
                "job": task.group,
                "status": task.status.value,
                "node": task.node or None,
                "priority": task.pod_priority,
                **task.requests,
            }
            for task in instance.tasks.values()
        ),
        "nodes": lambda: ({"node": node.name, **node.allocatable} for node in instance.nodes.values()),
        "queues": lambda: (
            {"queue": queue.name, "weight": queue.weight, "parent": queue.parent, "open": queue.is_open}
            for queue in instance.queues.values()
        ),
    }


def headline_of_solution(solution: Solution) -> str:
    """Who decided, how far it is proved, and what happens."""
    counts = (("starts", solution.binds), ("holds room for", solution.reserves), ("evicts", solution.evictions))
    does = ", ".join(f"{verb} {len(tasks):,}" for verb, tasks in counts if tasks) or "does nothing"
    return f"{solution.engine or 'unnamed'}: {solution.status.value}, {does}"


def tables_of_solution(solution: Solution) -> Tables:
    """Levels, what becomes of tasks, victims, and the rules that are broken."""
    placed = (("starts", solution.binds), ("holds room", solution.allocated), ("waits for room", solution.pipelined))
    return {
        "levels": lambda: (
            {"level": one.label, "better": one.sense, "value": one.value, "bound": one.bound, "proved": one.proved}
            | {"prover": one.prover}
            for one in solution.levels
        ),
        "placements": lambda: (
            {"task": task, "does": does, "node": node} for does, places in placed for task, node in places.items()
        ),
        "victims": lambda: (
            {"task": one.task, "node": one.node, "action": one.action, "for": one.for_job} for one in solution.evictions
        ),
        "findings": lambda: (one.model_dump() for one in solution.findings),
    }
