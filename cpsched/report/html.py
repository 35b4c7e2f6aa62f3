"""A report as one HTML file that needs no network: everything is inside, and nothing else may be loaded or run."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
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
EXPLORER = ("model", "state", "map", "detail", "light", "ladder", "lists", "dropped", "main", "points")
"""Parts of the explorer's script, in order; together they are one function."""


LIVE_POLICY = "frame-ancestors 'none'; form-action 'self'; base-uri 'none'"
"""Header of a live page; the page's own policy forbids the rest."""


@dataclass(frozen=True)
class ChangeForm:
    """Of a live page: what was last asked for, and the models there are."""

    fields: Mapping[str, str]
    models: tuple[str, ...]


def html(report: Report, form: ChangeForm | None = None) -> str:
    """The page; every text of the input is escaped and made visible; its one script is allowed by its hash."""
    templates, script = _templates(), page_script()
    style = "".join(templates.get_template(name).render() for name in STYLES)
    page = templates.get_template(TEMPLATE).render(
        report=report,
        form=form,
        policy=_security_policy(script, "'none'" if form is None else "'self'"),
        script=script,
        style=style,
        version=cpsched.version.__version__,
    )
    return visible(page, keep="\n\t")


def page_script() -> str:
    """All that a page runs."""
    templates = _templates()
    parts = "".join(templates.get_template(f"explorer/{name}.js").render() for name in EXPLORER)
    return f'{templates.get_template("page.js").render()}(() => {{\n"use strict";\n{parts}}})();\n'


def _security_policy(script: str, forms: str) -> str:
    """No network, no frames, no forms but a live page's own; styles may stand in attributes: bars have widths."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; "
        f"img-src data:; base-uri 'none'; form-action {forms}"
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
