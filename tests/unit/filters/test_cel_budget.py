"""Selectors without end: a bound on steps and sizes ends each in one line, and usual ones stay far below it."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from cpsched.errors import InputError
from cpsched.filters import cel_budget
from cpsched.filters.cel_budget import MOST_SIZE, MOST_STEPS, CelBudget
from cpsched.filters.cel_errors import CelError, TooExpensiveError
from cpsched.filters.device_cel import MOST_BYTES, matches
from cpsched.objects.devices import Device
from tests.unit.filters.build_devices import at, claim, cluster, device, request, slice_of

PLAIN = Device.model_validate({"name": "plain"})
RICH = Device.model_validate(
    {
        "name": "rich",
        "attributes": {f"a{number}": {"string": f"{number:064}"} for number in range(30)}
        | {"index": {"int": 3}, "version": {"version": "1.2.3"}},
        "capacity": {f"c{number}": {"value": f"{number}Gi"} for number in range(30)},
    }
)
NUMBERS = f"[{', '.join(map(str, range(200)))}]"
EXPENSIVE = "is too expensive; at most 100000 steps are taken for a device; write a simpler one"


def nested(macro: str, body: str, depth: int = 4) -> str:
    """Loops over 200 numbers inside each other."""
    for number in range(depth):
        body = f"{NUMBERS}.{macro}(v{number}, {body})"
    return body


def chain(start: str, step: str, times: int) -> str:
    """A list whose one element grows step by step."""
    return f"[{start}]{f'.map(a, {step})' * times} == []"


TOO_EXPENSIVE = {
    "all": nested("all", "true"),
    "exists": nested("exists", "false"),
    "exists_one": nested("exists_one", "true"),
    "filter": f"size({nested('filter', 'true')}) == 0",
    "map": f"size({nested('map', 'v0')}) == 0",
    "all over all that fails": nested("all", "device.none == 1"),
    "replace": '"x"' + '.replace("x", "xxxxxxxxxx")' * 20 + ' == "y"',
    "replace of nothing": '"x"' + '.replace("", "xxxxxxxxxx")' * 20 + ' == "y"',
    "one replace of much by much": chain('"x"', 'size(a) < 100000 ? a + a : a.replace("x", a)', 30),
    "text + text": chain('"x"', "a + a", 60),
    "bytes + bytes": chain('b"x"', "a + a", 60),
    "list + list": chain("[1]", "a + a", 60),
    "list of lists": chain("[1]", "[a, a]", 100),
    "map of maps": chain("1", '{"a": a, "b": a}', 100),
    "split": chain('" "', 'size(a) < 500000 ? a + a : a.split(" ")', 30),
    "equal lists": f"{NUMBERS}.all(a, {NUMBERS}.all(b, {NUMBERS} == {NUMBERS}))",
    "in lists": f"{NUMBERS}.all(a, {NUMBERS}.all(b, b in {NUMBERS}))",
    "a long text with a pattern": chain('"aaaaaaaaaa"', 'size(a) < 20000 ? a + a : a.matches("(a?a?)+$")', 30),
    "a pattern again and again": f'{NUMBERS}.all(a, {NUMBERS}.all(b, "{"a" * 200}".matches("(a?){{50}}$")))',
}


@pytest.mark.parametrize("expression", TOO_EXPENSIVE.values(), ids=TOO_EXPENSIVE.keys())
def test_an_expression_without_end_is_refused(expression: str) -> None:
    """Without a bound each takes hours or gigabytes."""
    assert len(expression) <= MOST_BYTES
    with pytest.raises(InputError) as refused:
        matches(expression, "d", PLAIN)
    assert str(refused.value).endswith(EXPENSIVE)


NOT_UNDERSTOOD = {
    "text formatted": ('size("%1000000000d" % 5) > 0', "it joins values of different types"),
    "text repeated": ('size("a" * 1000000000) > 0', "it joins values of different types"),
    "list repeated": ("size(1000000000 * [1]) > 0", "it joins values of different types"),
    # cel-python's own pattern for durations takes twice as long for each further letter.
    "duration": (f'duration("{"a" * 100}!") == duration("1s")', "durations and timestamps"),
    "timestamp": (f'timestamp("{"1" * 5000}") == timestamp("x")', "durations and timestamps"),
    "reduce": ("[1].reduce(a, b, 0, a + b) == 1", "undeclared reference to 'reduce'"),
    "an unknown name": (f"{NUMBERS}.all(a, nothing)", "undeclared reference to 'nothing'"),
    "an unknown function": (f"{NUMBERS}.exists(a, nothing(a))", "undeclared reference to 'nothing'"),
    "an unknown method": (f"{NUMBERS}.exists(a, a.nothing())", "undeclared reference to 'nothing'"),
    "a bad pattern": ('"a".matches("(")', "the pattern ( of matches"),
    "a large pattern": (f'"a".matches("{"(a?){1000}" * 5}")', f"the pattern {'(a?){1000}' * 5} of matches"),
    "parentheses": ("(" * 3000 + "true" + ")" * 3000, "it is nested too deeply"),
    "a chain of and": ("true && " * 1200 + "true", "it is nested too deeply"),
    "many times not": ("!" * 8000 + "true", "it is nested too deeply"),
    "lists in lists": ("[" * 3000 + "]" * 3000 + " == []", "it is nested too deeply"),
    "a long number": ("1" * 5000 + " == 1", "cel-python cannot evaluate it"),
    "a loop without a body": ("[1].map(a) == []", "cel-python cannot evaluate it"),
    "a loop over a number": ("(1).all(a, true)", "cel-python cannot evaluate it"),
    "nothing to have": ("has()", "cel-python cannot evaluate it"),
    "no CEL": ("true \x00", "no CEL at line 1 column 6"),
    "a division": ("1 / 0 == 1", "it divides by zero"),
    "a quantity that is none": ('quantity("much").isInteger()', "a value is not what its function reads"),
}


@pytest.mark.parametrize(("expression", "why"), NOT_UNDERSTOOD.values(), ids=NOT_UNDERSTOOD.keys())
def test_what_is_not_evaluated_is_one_line(expression: str, why: str, capfd: pytest.CaptureFixture[str]) -> None:
    """Whatever cel-python, RE2 and Python would do or print."""
    with pytest.raises(InputError) as refused:
        matches(expression, "d", PLAIN)
    assert str(refused.value).endswith(f"is not understood: {why}; see docs/filters.md")
    assert len(str(refused.value)) < 600
    assert capfd.readouterr() == ("", "")


def test_a_long_expression_is_refused_before_it_is_read() -> None:
    """The API server's limit, in bytes."""
    fits = "true" + " " * (MOST_BYTES - 4)
    assert matches(fits, "d", PLAIN)
    for longer in (f"{fits} ", '"é" == "é"' + " " * (MOST_BYTES - 11)):
        with pytest.raises(InputError, match=r"^the device selector `.+` is longer than 10240 bytes; the API server"):
            matches(longer, "d", PLAIN)


USUAL = [
    'device.driver == "d"',
    'device.attributes["d"].a1.endsWith("1") && device.attributes["d"].a2.contains("2")',
    'device.attributes["d"].a1 in ["x", "y", "z"] || device.attributes["d"].index >= 3',
    'device.capacity["d"].c20.compareTo(quantity("10Gi")) >= 0',
    'has(device.attributes["d"].a3) && device.attributes["d"].version.compareTo(semver("1.0.0")) > 0',
    '"d" in device.attributes && device.attributes["d"].a1.lowerAscii().matches("^0+1$")',
    'device.attributes["d"].exists(name, name.startsWith("a2"))',
    " && ".join(f'device.attributes["d"].a{number}.matches("{number}$")' for number in range(30)),
    " || ".join(f'device.attributes["d"].a1 == "model-{number}"' for number in range(100)) + " || true",
]


@pytest.mark.parametrize("expression", USUAL)
def test_usual_selectors_stay_far_below_the_bound(expression: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cel_budget, "MOST_STEPS", MOST_STEPS // 4)
    assert matches(expression, "d", RICH)


def test_a_loop_in_a_loop_over_all_attributes_is_evaluated() -> None:
    every = 'device.attributes["d"].all(a, device.attributes["d"].exists(b, a == b))'
    assert matches(every, "d", RICH)


def test_every_evaluation_has_a_budget_of_its_own() -> None:
    """The same program again and again, also after one that was too expensive."""
    dear = f"{NUMBERS}.all(a, [{', '.join('123456789012')}].all(b, true))"
    with pytest.raises(InputError):
        matches(TOO_EXPENSIVE["all"], "d", PLAIN)
    assert [matches(dear, "d", PLAIN) for _ in range(3)] == [True] * 3


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("[1, 2].all(a, a > 0)", True),
        ("[1, 2].all(a, a > 1)", False),
        ("[].all(a, a > 1)", True),
        ("[].exists(a, a > 1)", False),
        ("[1, 2].exists(a, a > 1)", True),
        # An error counts only where nothing else decides.
        ("[1, 2].all(a, device.none == 1 || a == 1)", "no such key: none"),
        ("[1, 2].all(a, a == 1 && device.none == 1)", False),
        ("[1, 2].exists(a, device.none == 1 || a == 2)", True),
        ("[1, 2].exists(a, device.none == 1)", "no such key: none"),
        ("device.none == 1 && device.other == 2", "no such key: none"),
        ("device.none == 1 || device.other == 2", "no such key: none"),
        ("device.none == 1 || true", True),
        ("false && device.none == 1", False),
        ('device.attributes["d"]["none"] == 1', "no such key: none"),
    ],
)
def test_errors_in_logic_are_cels(expression: str, expected: bool | str) -> None:
    """cel-python alone writes every error into the next: thirty failing turns of a loop take gigabytes."""
    if isinstance(expected, bool):
        assert matches(expression, "d", PLAIN) is expected
    else:
        with pytest.raises(CelError, match=f"^{expected}$"):
            matches(expression, "d", PLAIN)


def test_many_failing_turns_are_one_error() -> None:
    with pytest.raises(CelError, match=r"^no such key: none$"):
        matches(f"{NUMBERS}.all(a, device.none == a)", "d", PLAIN)


class TestBudget:
    """How values are counted."""

    def test_a_value_counts_with_all_that_is_in_it_however_often_it_is_there(self) -> None:
        budget, value = CelBudget(), [1]
        for _ in range(10):
            value = [value, value]
        assert budget.size(value) == 3 * 2**10 - 1
        with pytest.raises(TooExpensiveError):
            budget.size([value] * 4)

    def test_texts_count_by_their_length(self) -> None:
        assert CelBudget().size("x" * 1000) == 11
        assert CelBudget().size({"x" * 1000: b"x" * 1000}) == 23
        with pytest.raises(TooExpensiveError):
            CelBudget().size("x" * 100 * MOST_SIZE)

    def test_a_list_is_paid_for_once(self) -> None:
        budget, value = CelBudget(), list(range(MOST_SIZE - 1))
        for _ in range(MOST_STEPS):
            budget.meet(value)
        for _ in range(MOST_STEPS // (MOST_SIZE // 10) - 1):
            budget.meet(list(value))
        with pytest.raises(TooExpensiveError):
            budget.meet(list(value))


def cel(expression: str) -> dict[str, Any]:
    return {"selectors": [{"cel": {"expression": expression}}]}


def test_the_line_names_the_claim_or_the_class() -> None:
    wanted = claim("c", request(**cel(TOO_EXPENSIVE["all"])))
    with pytest.raises(InputError, match=r"^claim default/c: the device selector `.*` is too expensive"):
        at("a", cluster([wanted], [slice_of(device("1"))]), "c")
    classes = [{"metadata": {"name": "gpu"}, "spec": cel("nothing")}]
    with pytest.raises(InputError, match=r"^class gpu: the device selector `nothing` is not understood"):
        at("a", cluster([claim("c", request())], [slice_of(device("1"))], DeviceClass=classes), "c")


@pytest.mark.parametrize(
    ("fields", "what"),
    [
        ({"attributes": {"v": {"version": "new"}}}, "attribute v"),
        ({"attributes": {"i": {"int": "three"}}}, "attribute i"),
        ({"attributes": {"i": {"int": 2**63}}}, "attribute i"),
        ({"capacity": {"m": {"value": "much"}}}, "capacity m"),
    ],
)
def test_a_value_that_the_api_server_would_not_store(fields: dict[str, Any], what: str) -> None:
    odd = Device.model_validate({"name": "odd", **fields})
    with pytest.raises(InputError) as refused:
        matches("true", "d", odd)
    assert str(refused.value) == f"device odd of d: its {what} has no value of its type; see docs/filters.md"


ATOMS = [
    "device", 'device.attributes["d"].a1', 'device.capacity["d"].c1', "1", "2u", "1.5", '"a"', 'b"a"', "true", "null",
    "[1, 2]", '{"a": 1}', "[]", "v", "int", '"(a+)+$"', "-1", "9223372036854775807",
]  # fmt: skip
METHODS = [
    "size()", 'matches("a")', 'replace("a", "bb")', 'split(",")', "map(v, v)", "filter(v, true)", "all(v, v == 1)",
    "exists(v, v)", "exists_one(v, true)", "foo", "min()", "major()", "map(v, w, x)", "getHours()",
]  # fmt: skip
FUNCTIONS = ["size", "int", "string", "bool", "type", "has", "dyn", "quantity", "semver", "bytes", "list", "map", "foo"]
OPERATORS = ["==", "<", "&&", "||", "+", "-", "*", "/", "%", "in"]


def random_expression(random: Random, depth: int) -> str:
    kind = random.random()
    if depth == 0 or kind < 0.25:
        return random.choice(ATOMS)
    inner = random_expression(random, depth - 1)
    if kind < 0.45:
        return f"{inner}.{random.choice(METHODS)}"
    if kind < 0.6:
        return f"{random.choice(FUNCTIONS)}({inner})"
    other = random_expression(random, depth - 1)
    if kind < 0.95:
        return f"({inner} {random.choice(OPERATORS)} {other})"
    return f"({inner} ? {other} : {inner})"


def test_whatever_is_written_ends_with_a_value_or_one_line() -> None:
    ends = set()
    for number in range(1500):
        random = Random(f"cel {number}")
        expression = random_expression(random, random.randint(1, 5))
        if random.random() < 0.2:
            place = random.randrange(len(expression))
            expression = expression[:place] + random.choice("()[]{}'\"\\.,:\n\x00é") + expression[place + 1 :]
        end = end_of(expression)
        assert str(end).isprintable()
        ends.add(type(end))
    assert ends == {bool, InputError, CelError}


def end_of(expression: str) -> bool | InputError | CelError:
    try:
        return matches(expression, "d", RICH)
    except (InputError, CelError) as ended:
        return ended
