"""`cpsched serve`: the report as a live page on this machine."""

from __future__ import annotations

from typing import Annotated

import typer

from cpsched.cli.output import emit, warn
from cpsched.cli.parameters import Conf, Deterministic, Inputs, Model, Seed, TimeLimit, Workers
from cpsched.errors import InputError

Host = Annotated[
    str,
    typer.Option("--host", metavar="ADDRESS", help="Address to listen on; one that others can reach needs --open."),
]
Port = Annotated[int, typer.Option("--port", min=0, max=65535, help="Port to listen on; 0 takes any that is free.")]
Open = Annotated[
    bool, typer.Option("--open", help="Let other machines use the page: anyone who reaches it sees the cluster.")
]


def serve(  # noqa: PLR0913, PLR0917 - a command has as many parameters as it has options
    inputs: Inputs,
    model: Model = None,
    conf: Conf = None,
    host: Host = "127.0.0.1",
    port: Port = 8321,
    open_: Open = False,
    seed: Seed = 1,
    time_limit: TimeLimit = 60,
    workers: Workers = 2,
    deterministic: Deterministic = False,
) -> int:
    """Show the report as a live page: change the cluster, decide again.

    Listens on this machine only. A form on the page submits manifests, cordons or drains nodes, adds nodes, leaves pods
    out, or changes the model; then the mirror and the optimum decide again. Nothing is written and nothing is sent
    anywhere. Ctrl-C ends it.
    """
    from cpsched.importers.load import load
    from cpsched.options import Options
    from cpsched.serve.answer import Session
    from cpsched.serve.server import Server, is_loopback

    if not open_ and not is_loopback(host):
        raise InputError(f"others could reach {host}", place="--host", right="127.0.0.1, or add --open")
    if "-" in inputs:
        raise InputError("stdin can be read once", right="name a file")
    warn(load(inputs).warnings)
    options = Options(time_limit=time_limit, workers=workers, seed=seed, deterministic=deterministic)
    with Server(host, port, Session(tuple(inputs), model, conf, options).page) as server:
        emit(f"Serving {server.address} until Ctrl-C.")
        server.serve_forever(poll_interval=0.2)
    return 0
