"""For the site: the reference of the Python interface, generated from what the package exports, below its page."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

import cpsched


def on_page_markdown(markdown: str, page: object, **_: object) -> str:
    """Called by mkdocs for every page."""
    if page.file.src_uri != "python.md":  # type: ignore[attr-defined]
        return markdown
    return "\n".join([markdown, "", "## Reference", "", *reference()])


def reference() -> Iterator[str]:
    """Every exported name with its signature and its docstring."""
    for name in cpsched.__all__:
        exported = getattr(cpsched, name)
        if inspect.isclass(exported) or inspect.isfunction(exported):
            yield from (f"### cpsched.{name}", "", *_described(name, exported))
        if inspect.isclass(exported):
            for member, found in sorted(vars(exported).items()):
                if not member.startswith("_") and inspect.isfunction(found) and found.__doc__:
                    yield from (f"#### {name}.{member}", "", *_described(member, found))


def _described(name: str, exported: object) -> Iterator[str]:
    """The signature where there is one in Python, then the docstring as it stands."""
    if inspect.isfunction(exported):
        yield from ("```python", f"{name}{inspect.signature(exported)}", "```", "")
    yield from ("```text", inspect.getdoc(exported) or "", "```", "")
