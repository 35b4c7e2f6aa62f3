"""`python docs/studies/openb/page.py`: writes ../openb.md and the pictures again from the tables beside this file."""

from __future__ import annotations

from figures import FIGURES, facts
from tables import HERE

from cpsched.files import write_whole


def page() -> str:
    """The frame with its figures."""
    text = (HERE / "page.md.in").read_text(encoding="utf-8")
    for name, stated in (facts() | {name: figure() for name, figure in FIGURES.items()}).items():
        text = text.replace(f"{{{name}}}", stated)
    return text


if __name__ == "__main__":
    import charts

    charts.write()
    write_whole(HERE.parent / "openb.md", page())
