"""No rule is without sessions whose optimum it shapes."""

from __future__ import annotations

from cpsched.rules import RULES
from tests.oracle import test_plugin_rules, test_random_optimum, test_topology


def test_every_rule_shapes_the_optimum_of_some_sessions() -> None:
    of_plugins = {rule for rule, _ in test_plugin_rules.BINDS.values()}
    of_topology = {name for binds in test_topology.BINDS.values() for name in binds}
    assert set(RULES) - of_plugins - of_topology <= test_random_optimum.BINDING.keys() <= set(RULES)
    assert of_plugins | (of_topology - set(test_topology.NEAR)) <= set(RULES)
