"""`cpsched capture`: a live cluster as one file, taken through the user's own kubectl."""

from __future__ import annotations

import gzip
import time
from typing import TYPE_CHECKING, Annotated

import typer

from cpsched.cli.delivery import check_outputs
from cpsched.cli.output import busy, emit_lines, warn

if TYPE_CHECKING:
    from cpsched.capture.take import Capture

Output = Annotated[
    str | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Write the capture to this file, compressed if its name ends in .gz. Default: cluster-TIME.json.gz.",
        show_default=False,
    ),
]
Context = Annotated[
    str | None,
    typer.Option("--context", metavar="NAME", help="Context of the kubeconfig, as for kubectl.", show_default=False),
]
Kubeconfig = Annotated[
    str | None,
    typer.Option("--kubeconfig", metavar="FILE", help="Kubeconfig, as for kubectl.", show_default=False),
]
AsUser = Annotated[
    str | None, typer.Option("--as", metavar="USER", help="Impersonate a user, as for kubectl.", show_default=False)
]
AsGroup = Annotated[
    list[str] | None,
    typer.Option(
        "--as-group", metavar="GROUP", help="Impersonate a group; may be repeated, as for kubectl.", show_default=False
    ),
]
KubectlOption = Annotated[
    str, typer.Option("--kubectl", metavar="CMD", help='The kubectl to use, such as "k3s kubectl" or a path.')
]
Redact = Annotated[
    bool,
    typer.Option(
        "--redact",
        help="Write pseudonyms in place of names, namespaces, labels and annotations; decisions stay the same.",
    ),
]
Names = Annotated[
    str | None,
    typer.Option(
        "--names",
        metavar="FILE",
        help="With --redact: write which pseudonym stands for what. This file is yours to keep.",
        show_default=False,
    ),
]
WithContext = Annotated[
    bool, typer.Option("--with-context", help="Write the name of the kubeconfig's context into the file.")
]
Timeout = Annotated[
    float, typer.Option("--timeout", min=1, metavar="SECONDS", help="Give up if the cluster has not answered by then.")
]


def capture(  # noqa: PLR0913, PLR0917 - a command has as many parameters as it has options
    output: Output = None,
    context: Context = None,
    kubeconfig: Kubeconfig = None,
    as_user: AsUser = None,
    as_group: AsGroup = None,
    kubectl: KubectlOption = "kubectl",
    redact: Redact = False,
    names: Names = None,
    with_context: WithContext = False,
    timeout: Timeout = 120,
) -> int:
    """Take a cluster as one file that every command reads.

    Runs kubectl with your own rights and only reads: the kinds that decisions look at, as far as the cluster has them,
    and the ConfigMaps of its schedulers. Secrets are never asked for, and of every object only the fields that
    decisions read are written: no environment variables, no arguments, no images of running pods.
    """
    from dataclasses import replace

    import cpsched.version
    from cpsched.capture.kubectl import Kubectl, options_of
    from cpsched.capture.take import take
    from cpsched.cli.output import as_json
    from cpsched.errors import InputError
    from cpsched.files import write_whole
    from cpsched.importers.captured import shortfall
    from cpsched.visible import json_text

    if names is not None and not redact:
        raise InputError("--names needs --redact", right="without it the names are in the file")
    path = output or time.strftime("cluster-%Y%m%dT%H%M%SZ.json.gz", time.gmtime())
    check_outputs(path, names)
    options = options_of(context=context, kubeconfig=kubeconfig, as_user=as_user, as_groups=as_group or ())
    asked = Kubectl(kubectl, options, timeout)
    with busy("Reading the cluster through kubectl") as status:
        taken = take(asked, cpsched.version.__version__, (lambda _: None) if status is None else status.update)
        if with_context:
            taken = replace(taken, document={**taken.document, "context": asked.context()})
        if redact:
            taken = taken.redacted()
        text = json_text(taken.content()).encode() + b"\n"
        data = gzip.compress(text, mtime=0) if path.endswith(".gz") else text
    if names is not None:
        write_whole(names, as_json(taken.names))
    write_whole(path, data)
    warn(shortfall(taken.document["missing"]))
    emit_lines(_summary(taken, path, len(data)))
    return 0


def _summary(taken: Capture, path: str, size: int) -> list[str]:
    counts = sorted(taken.counts().items(), key=lambda item: (-item[1], item[0]))
    lines = [f"{path}: {size / 1000:.0f} kB, {', '.join(f'{count} {kind}' for kind, count in counts)}"]
    for one in taken.document["configurations"]:
        lines.append(f"Configuration of {one['scheduler']}: ConfigMap {one['from']}")
    if taken.absent:
        lines.append(f"Kinds that the cluster does not have: {', '.join(taken.absent)}")
    return [*lines, f"Next: cpsched solve {path}"]
