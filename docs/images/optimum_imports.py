"""Draws the rooms of `cpsched/optimum` and who imports whom: `python docs/images/optimum_imports.py` writes the SVG."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
OPTIMUM = ROOT / "cpsched" / "optimum"
LAYERS = [
    ["solve"],
    ["search", "queries", "proofs"],
    ["relax"],
    ["model", "packing", "solvers"],
    ["budget"],
    ["params"],
    ["provers", "disagreement"],
]
WIDTH, BOX, HIGH, GAP = 640, 130, 30, 66


def imported(path: Path) -> Iterator[str]:
    """The modules of the optimum that a file imports."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("cpsched.optimum"):
            parts = (node.module or "").split(".")[2:]
            yield from [parts[0]] if parts else [alias.name for alias in node.names]


def room(path: Path) -> str:
    """The room, or the module that stands beside the rooms."""
    return path.relative_to(OPTIMUM).parts[0].removesuffix(".py")


def edges() -> set[tuple[str, str]]:
    """(room, room that it imports from)."""
    files = sorted(OPTIMUM.rglob("*.py"))
    return {(room(path), other) for path in files for other in imported(path) if other != room(path)}


def drawn() -> str:
    """The picture: a box per room, an arrow to each room that it imports from."""
    high = len(LAYERS) * GAP
    place = {
        name: (WIDTH * (2 * column + 1) // (2 * len(layer)), GAP // 2 + row * GAP)
        for row, layer in enumerate(LAYERS)
        for column, name in enumerate(layer)
    }
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {high}"',
        ' font-family="sans-serif" font-size="13">',
        '<defs><marker id="a" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0 0L8 4L0 8z" fill="#777"/></marker></defs>',
        f'<rect width="{WIDTH}" height="{high}" fill="white"/>',
    ]
    for one, other in sorted(edges()):
        (x, y), (u, w) = place[one], place[other]
        line = f"M{x} {y + HIGH // 2}L{u} {w - HIGH // 2}"
        parts.append(f'<path d="{line}" stroke="#999" fill="none" marker-end="url(#a)"/>')
    for name, (x, y) in place.items():
        corner = f'x="{x - BOX // 2}" y="{y - HIGH // 2}" width="{BOX}" height="{HIGH}" rx="5"'
        parts.append(f'<rect {corner} fill="#eef" stroke="#446"/>')
        parts.append(f'<text x="{x}" y="{y + 5}" text-anchor="middle">{name}</text>')
    return "\n".join([*parts, "</svg>", ""])


if __name__ == "__main__":
    Path(__file__).with_suffix(".svg").write_text(drawn(), encoding="utf-8")
