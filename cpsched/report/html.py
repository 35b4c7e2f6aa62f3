"""A report as one HTML file that needs no network: everything is inside, and nothing else may be loaded or run."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from typing import TYPE_CHECKING

import cpsched.version
from cpsched.errors import InputError
from cpsched.report.document import Picture, Report, Table, Text
from cpsched.visible import visible

if TYPE_CHECKING:
    from jinja2 import Environment

TEMPLATE = "page.html.j2"
STYLES = ("page.css", "explorer.css")
EXPLORER = ("model", "state", "map", "detail", "ladder", "lists", "dropped", "main")
"""Parts of the explorer's script, in order; together they are one function."""


def html(report: Report) -> str:
    """The page; every text of the input is escaped and made visible; its one script is allowed by its hash."""
    templates = _templates()
    parts = "".join(templates.get_template(f"explorer/{name}.js").render() for name in EXPLORER)
    script = f'{templates.get_template("page.js").render()}(() => {{\n"use strict";\n{parts}}})();\n'
    style = "".join(templates.get_template(name).render() for name in STYLES)
    page = templates.get_template(TEMPLATE).render(
        report=report, policy=_security_policy(script), script=script, style=style, version=cpsched.version.__version__
    )
    return visible(page, keep="\n\t")


def _security_policy(script: str) -> str:
    """No network, no frames, no forms; styles may stand in attributes, because bars have widths."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


@cache
def _templates() -> Environment:
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ImportError:
        raise InputError("an HTML report needs jinja2", right="pip install 'cpsched[report]'") from None
    environment = Environment(
        loader=PackageLoader("cpsched.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.tests |= {
        "table": lambda block: isinstance(block, Table),
        "text": lambda block: isinstance(block, Text),
        "picture": lambda block: isinstance(block, Picture),
    }
    return environment
