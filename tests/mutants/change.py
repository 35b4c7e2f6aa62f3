"""Single changes of a module's source: each mutant differs from it in one operator, call, constant or statement."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
OPERATORS: dict[type[ast.operator], type[ast.operator]] = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add}
CALLS = {"max": "min", "min": "max", "all": "any", "any": "all"}
LEFT_OUT = ("reversed", "sorted")
"""Calls that are replaced by a list of their argument."""


@dataclass(frozen=True)
class Mutant:
    """A changed source, where it was changed and how."""

    line: int
    before: str
    after: str
    source: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.before}  →  {self.after}"


def mutants(source: str) -> Iterator[Mutant]:
    """Every mutant of a source; one that reads the same as the original is left out."""
    tree = ast.parse(source)
    skipped = set(_annotations(tree))
    for node in ast.walk(tree):
        if node in skipped or not isinstance(node, ast.expr | ast.stmt):
            continue
        before = ast.get_source_segment(source, node) or ""
        for changed in _changes(node):
            after = ast.unparse(changed)
            if after != ast.unparse(node):
                yield Mutant(node.lineno, _one_line(before), _one_line(after), _replaced(source, node, after))


def _changes(node: ast.AST) -> Iterator[ast.AST]:
    match node:
        case ast.Compare(left=left, ops=[operator], comparators=comparators) if type(operator) in COMPARISONS:
            yield ast.Compare(left, [COMPARISONS[type(operator)]()], comparators)
        case ast.BinOp(left=left, op=operator, right=right) if type(operator) in OPERATORS:
            yield ast.BinOp(left, OPERATORS[type(operator)](), right)
        case ast.BoolOp(op=ast.And(), values=values):
            yield ast.BoolOp(ast.Or(), values)
        case ast.BoolOp(op=ast.Or(), values=values):
            yield ast.BoolOp(ast.And(), values)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield operand
        case ast.Call(func=ast.Name(id=name), args=args, keywords=keywords) if name in CALLS:
            yield ast.Call(ast.Name(CALLS[name]), args, keywords)
        case ast.Call(func=ast.Name(id=name), args=[argument, *_]) if name in LEFT_OUT:
            yield ast.Call(ast.Name("list"), [argument], [])
        case ast.Constant(value=bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(value=int(value)):
            yield ast.Constant(value + 1)
        case ast.Continue() | ast.Expr(value=ast.Yield()):
            yield ast.Pass()


def _annotations(tree: ast.Module) -> Iterator[ast.AST]:
    """Types are not run, so they are not changed."""
    for node in ast.walk(tree):
        for held in (getattr(node, "annotation", None), getattr(node, "returns", None)):
            if held is not None:
                yield from ast.walk(held)


def _replaced(source: str, node: ast.expr | ast.stmt, text: str) -> str:
    lines = source.encode().splitlines(keepends=True)
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    start = sum(map(len, lines[: node.lineno - 1])) + node.col_offset
    end = sum(map(len, lines[: node.end_lineno - 1])) + node.end_col_offset
    whole = b"".join(lines)
    # Parentheses keep a changed expression together; a statement needs none.
    inside = f"({text})" if isinstance(node, ast.expr) else text
    return (whole[:start] + inside.encode() + whole[end:]).decode()


def _one_line(text: str) -> str:
    return " ".join(text.split())
