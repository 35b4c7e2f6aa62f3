"""Arguments and options that several commands share, each with one help text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

Inputs = Annotated[
    list[str],
    typer.Argument(
        metavar="INPUT",
        help="Kubernetes objects (what kubectl get -o json or cluster-info dump prints, manifests, a folder or archive "
        "of them) or a compact Instance; JSON or YAML, .gz too, - for stdin. Several are parts of one cluster.",
        show_default=False,
    ),
]


def typed(inputs: Sequence[str]) -> str:
    """The inputs as they were typed."""
    return " ".join(inputs)


Model = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="NAME|FILE",
        help="Policy: the name of a shipped model, or a model file. Default: kube or volcano, as the configuration, "
        "the pending pods or the objects of the input say.",
        show_default=False,
    ),
]
Conf = Annotated[
    str | None,
    typer.Option(
        "--conf",
        metavar="FILE",
        help="Scheduler configuration: volcano-scheduler.conf, a KubeSchedulerConfiguration, or a ConfigMap with one "
        "of them. Overrules the one in the input, which overrules the model's.",
        show_default=False,
    ),
]
AllowExtenders = Annotated[
    bool,
    typer.Option(
        "--allow-extenders",
        help="Also ask the HTTP extenders that the input or a model names; without it only those of --conf are asked.",
    ),
]
Lenient = Annotated[
    bool, typer.Option("--lenient", help="Broken references between objects are warnings in a case too, not errors.")
]
Strict = Annotated[
    bool, typer.Option("--strict", help="Read the input as a case: every fault is an error, none is set aside.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]
Output = Annotated[
    str | None,
    typer.Option("--output", "-o", metavar="FILE", help="Write the JSON to this file.", show_default=False),
]

Seed = Annotated[
    int,
    typer.Option(
        "--seed",
        help="Seed for choices that the real scheduler makes at random. 1: the documented fixed choice; other values "
        "sample.",
    ),
]
TimeLimit = Annotated[
    float,
    typer.Option(
        "--time-limit", metavar="SECONDS", help="Stop after this many seconds and return the best decision found."
    ),
]
Workers = Annotated[int, typer.Option("--workers", help="Threads of the solver.")]
Deterministic = Annotated[
    bool,
    typer.Option(
        "--deterministic",
        help="The same answer on any machine: one thread, one solver, and the time limit counts CP-SAT's deterministic "
        "time instead of seconds.",
    ),
]
KubeVersion = Annotated[
    str | None,
    typer.Option(
        "--kube-version", metavar="RELEASE", help="kube-scheduler's release: 1.36 or head.", show_default=False
    ),
]
PodGroups = Annotated[
    bool, typer.Option("--pod-groups", help="Gate GenericWorkload: gangs schedule and preempt as one (engine kube).")
]
Corpora = Annotated[
    list[str],
    typer.Argument(
        metavar="INPUT",
        help="Instances, as solve reads them; folders of instances, nested; rows of JSON Lines (.jsonl, .jsonl.gz), "
        "which may hold recorded decisions; - for stdin. Files that have nodes and pods only together are one case.",
        show_default=False,
    ),
]
CaseModel = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="NAME|FILE",
        help="Policy for every case. Default: the case's own, else kube or volcano, as its configuration, its pending "
        "pods or its objects say.",
        show_default=False,
    ),
]
Jobs = Annotated[int, typer.Option("--jobs", "-j", min=1, max=256, help="Cases at a time, each in a process.")]
Cache = Annotated[
    str | None,
    typer.Option(
        "--cache",
        metavar="DIR|none",
        help="Cache folder for optimal decisions. Default: cpsched/optima in XDG_CACHE_HOME or ~/.cache.",
        show_default=False,
    ),
]

EXIT_CODES = (
    "Exit codes: 0 success, 1 violations found, 2 invalid input or usage, 3 time limit reached without a result."
)
