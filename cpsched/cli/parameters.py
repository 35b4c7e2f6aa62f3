"""Arguments and options that several commands share, each with one help text."""

from __future__ import annotations

from typing import Annotated

import typer

Input = Annotated[
    str,
    typer.Argument(
        metavar="INPUT",
        help="Kubernetes objects (what kubectl get -o json prints, manifests, a folder of them) or a compact Instance; "
        "JSON or YAML, .gz too, - for stdin.",
        show_default=False,
    ),
]
Model = Annotated[
    str, typer.Option("--model", metavar="NAME|FILE", help="Policy: the name of a shipped model, or a model file.")
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
Lenient = Annotated[
    bool, typer.Option("--lenient", help="Broken references and unknown settings are warnings, not errors.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]
Output = Annotated[
    str | None,
    typer.Option("--output", "-o", metavar="FILE", help="Write the JSON to this file.", show_default=False),
]

EXIT_CODES = "Exit codes: 0 fine, 1 findings, 2 bad input or usage, 3 no answer in time."
