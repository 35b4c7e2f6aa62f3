"""cel-python's evaluator with a budget: the API server bounds an expression before it stores it, cel-python does not.

Imported when the first selector is met, as the library is.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import celpy
from celpy.celtypes import BoolType
from celpy.evaluation import CELEvalError, Evaluator, Result, base_functions

from cpsched.filters.cel_budget import CelBudget
from cpsched.filters.cel_errors import NotUnderstoodError

_TYPES = ("bool", "bytes", "double", "int", "list", "map", "null_type", "string", "type", "uint")
"""Functions that are types too; they are compared as they are."""


class BoundedRunner(celpy.InterpretedRunner):
    """A program whose every evaluation has a budget."""

    def evaluate(self, context: Any, budget: CelBudget | None = None) -> Any:
        """The expression's value."""
        budget = budget or CelBudget()
        known = {**base_functions, "_&&_": _all_or_any(False), "_||_": _all_or_any(True), **(self.functions or {})}
        activation = self.new_activation()
        activation.functions = activation.functions.new_child(
            {name: budget.paid(name, function) for name, function in known.items() if name not in _TYPES}
        )
        return BoundedEvaluator(self.ast, activation, budget).evaluate(context)


class BoundedEvaluator(Evaluator):
    """Pays for every part it visits and every value it gets, and keeps no errors that are not asked for."""

    def __init__(self, ast: Any, activation: Any, budget: CelBudget):
        super().__init__(ast, activation)
        self._budget = budget

    def sub_evaluator(self, ast: Any) -> Evaluator:
        """For the body of a loop."""
        return BoundedEvaluator(ast, self.activation, self._budget)

    def visit_children(self, tree: Any) -> list[Result]:
        """All parts below; every part but a name has its value from here."""
        self._budget.spend(1)
        values = super().visit_children(tree)
        for value in values:
            self._budget.meet(value)
        return values

    def member_dot_arg(self, tree: Any) -> Any:
        """A method or a loop; cel-python's own `all` and `exists` write out all errors before them in every turn."""
        member, name = tree.children[0], tree.children[1].value
        if name == "reduce":
            raise _undeclared(name)
        if name not in ("all", "exists"):
            return super().member_dot_arg(tree)
        values = self.visit(member)
        if isinstance(values, CELEvalError):
            return values
        join, found = _all_or_any(name == "exists"), BoolType(name == "all")
        for value in map(self.build_ss_macro_eval(tree), values):
            found = join(found, value)
            if isinstance(found, BoolType) and bool(found) == (name == "exists"):
                break
        return found

    def ident_value(self, name: str, root_scope: bool = False) -> Any:
        """A variable; its absence is reported at once, where cel-python would write out all that there is."""
        try:
            return super().ident_value(name, root_scope)
        except KeyError:
            raise _undeclared(name) from None

    def function_eval(self, name_token: Any, exprlist: Any = None) -> Result:
        """A function's value."""
        self._refuse_unknown(name_token.value)
        return super().function_eval(name_token, exprlist)

    def method_eval(self, object: Any, method_ident: Any, exprlist: Any = None) -> Result:
        """A method's value."""
        self._refuse_unknown(method_ident.value)
        return super().method_eval(object, method_ident, exprlist)

    def _refuse_unknown(self, name: str) -> None:
        if name not in self.activation.functions:
            raise _undeclared(name)


def _joined(decisive: bool, left: Any, right: Any) -> Any:
    """`||` (True is decisive) or `&&`: a decisive value decides, an error is kept only if nothing does."""
    for one in (left, right):
        if isinstance(one, BoolType) and bool(one) is decisive:
            return one
    for one in (left, right):
        if isinstance(one, CELEvalError):
            return one
        if not isinstance(one, BoolType):
            raise TypeError("no such overload")
    return BoolType(not decisive)


def _all_or_any(decisive: bool) -> Any:
    return partial(_joined, decisive)


def _undeclared(name: str) -> NotUnderstoodError:
    return NotUnderstoodError(f"undeclared reference to {name!r}")
