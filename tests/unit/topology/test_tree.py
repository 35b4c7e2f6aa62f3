"""The tree of HyperNodes, of proper and of malformed ones, as Volcano's cache and session have it."""

from __future__ import annotations

import itertools

import pytest

from cpsched.topology.tree import TOP
from tests.unit.topology.shapes import domain, exact, node, nodes_of, tree_of

NODES = [node("n0", rack="a"), node("n1", rack="a"), node("n2", rack="b"), node("n3")]
RACKS = [domain("s0", 1, nodes_of("n0", "n1"), "rack"), domain("s1", 1, nodes_of("n2"), "rack")]
BLOCK = domain("b0", 2, exact("s0", "s1"), "block")


class TestMembers:
    def test_a_name_counts_only_where_there_is_such_a_node(self) -> None:
        assert tree_of(*NODES, domain("s", 1, nodes_of("n0", "ghost", ""))).nodes["s"] == ("n0",)

    @pytest.mark.parametrize(("pattern", "found"), [("[01]$", ("n0", "n1")), ("n[", ()), ("^0", ())])
    def test_a_pattern_is_searched_for(self, pattern: str, found: tuple[str, ...]) -> None:
        members = [{"type": "Node", "selector": {"regexMatch": {"pattern": pattern}}}]
        assert tree_of(*NODES, domain("s", 1, members)).nodes["s"] == found

    @pytest.mark.parametrize(
        ("labels", "found"),
        [
            ({"matchLabels": {"rack": "a"}}, ("n0", "n1")),
            ({}, ()),
            ({"matchExpressions": [{"key": "rack", "operator": "Exists"}]}, ("n0", "n1", "n2")),
            ({"matchExpressions": [{"key": "rack", "operator": "Near"}]}, ()),
        ],
    )
    def test_labels_select_and_an_empty_selector_nothing(
        self, labels: dict[str, object], found: tuple[str, ...]
    ) -> None:
        members = [{"type": "Node", "selector": {"labelMatch": labels}}]
        assert tree_of(*NODES, domain("s", 1, members)).nodes["s"] == found

    def test_what_is_unreadable_empties_the_whole_member(self) -> None:
        broken = [{"type": "Node", "selector": {"exactMatch": {"name": "n0"}, "regexMatch": {"pattern": "("}}}]
        assert tree_of(*NODES, domain("s", 1, broken)).nodes["s"] == ()

    def test_several_selectors_are_united(self) -> None:
        both = [
            {"type": "Node", "selector": {"exactMatch": {"name": "n3"}, "labelMatch": {"matchLabels": {"rack": "b"}}}}
        ]
        assert tree_of(*NODES, domain("s", 1, both)).nodes["s"] == ("n2", "n3")

    def test_hyper_nodes_are_named_exactly_or_not_at_all(self) -> None:
        members = [{"type": "HyperNode", "selector": {"regexMatch": {"pattern": "s."}}}, *exact("s1")]
        tree = tree_of(*NODES, *RACKS, domain("b", 2, members))
        assert (tree.children("b"), tree.nodes["b"]) == (["s1"], ("n2",))

    def test_one_may_have_both_kinds(self) -> None:
        tree = tree_of(*NODES, *RACKS, domain("b", 2, [*nodes_of("n3"), *exact("s0")]))
        assert tree.nodes["b"] == ("n0", "n1", "n3")


class TestProper:
    @pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
    def test_the_order_of_arrival_makes_no_difference(self, order: tuple[int, ...]) -> None:
        given = [*RACKS, BLOCK]
        tree = tree_of(*NODES, *(given[place] for place in order))
        assert tree.ready
        assert tree.nodes["b0"] == ("n0", "n1", "n2")
        assert tree.ancestors("s0") == ["s0", "b0", TOP]
        assert tree.tiers == [1, 2, 3]

    def test_the_top_holds_every_node_one_tier_above_all(self) -> None:
        tree = tree_of(*NODES, *RACKS, BLOCK)
        assert tree.nodes[TOP] == ("n0", "n1", "n2", "n3")
        assert (tree.top_tier, tree.children(TOP)) == (3, ["b0"])

    def test_without_any_the_top_is_alone_in_tier_1(self) -> None:
        tree = tree_of(*NODES)
        assert (tree.tiers, tree.leaf("n0"), tree.ready) == ([1], TOP, True)

    def test_a_leaf_is_of_the_lowest_tier_or_none(self) -> None:
        tree = tree_of(*NODES, *RACKS, domain("b0", 2, [*nodes_of("n3"), *exact("s0")]))
        assert [tree.leaf(name) for name in ("n0", "n2", "n3", "")] == ["s0", "s1", "", ""]

    def test_common(self) -> None:
        tree = tree_of(*NODES, *RACKS, BLOCK)
        assert [tree.common("s0", "s1"), tree.common("s0", ""), tree.common("", "b0")] == ["b0", "s0", "b0"]
        assert tree.common("s0", "s0") == "s0"

    def test_tiers_have_names(self) -> None:
        tree = tree_of(*NODES, *RACKS, BLOCK)
        assert [tree.tier_named(name) for name in ("rack", "block", "hall", "")] == [1, 2, None, None]

    def test_some_domain_spans_nodes(self) -> None:
        tree = tree_of(*NODES, *RACKS, BLOCK)
        assert tree.spans({"n0", "n1"}, 1)
        assert not tree.spans({"n0", "n2"}, 1)
        assert tree.spans({"n0", "n2"}, 2)
        assert tree.spans({"n0", "n3"}, 3)


class TestMalformed:
    def test_a_second_parent_is_refused_and_the_flag_goes_down(self) -> None:
        tree = tree_of(*NODES, *RACKS, BLOCK, domain("x", 2, exact("s0")))
        assert not tree.ready
        assert tree.parent("s0") == "b0"
        assert tree.children("x") == []

    def test_a_later_arrival_raises_it_again(self) -> None:
        first, second = RACKS
        assert tree_of(*NODES, first, BLOCK, domain("x", 2, exact("s0")), second).ready

    def test_a_failing_one_with_a_selector_fails_for_ever(self) -> None:
        first, second = RACKS
        selects = [{"type": "Node", "selector": {"labelMatch": {"matchLabels": {"rack": "b"}}}}]
        assert not tree_of(*NODES, first, BLOCK, domain("x", 2, [*selects, *exact("s0")]), second).ready

    def test_a_cycle_is_refused(self) -> None:
        tree = tree_of(*NODES, domain("a", 1, exact("b")), domain("b", 2, exact("a")))
        assert not tree.ready

    def test_one_that_names_itself_is_out_of_reach(self) -> None:
        tree = tree_of(*NODES, domain("a", 1, exact("a")))
        assert not tree.ready
        assert tree.children(TOP) == []

    def test_a_name_that_never_arrives_stands_in_without_nodes(self) -> None:
        tree = tree_of(*NODES, domain("b", 2, [*exact("ghost"), *nodes_of("n0")]))
        assert tree.ready
        assert (tree.tier("ghost"), tree.nodes.get("ghost", ()), tree.tiers) == (0, (), [2, 3])

    def test_a_stand_in_that_arrives_with_tier_0_is_in_no_tier(self) -> None:
        tree = tree_of(*NODES, domain("b", 1, exact("s")), domain("s", 0, nodes_of("n0")))
        assert (tree.tiers, tree.leaf("n0")) == ([1, 2], "b")

    def test_no_member_at_all_is_no_error(self) -> None:
        tree = tree_of(*NODES, domain("e", 1, []))
        assert (tree.ready, tree.nodes.get("e", ()), tree.tiers) == (True, (), [1, 2])

    def test_a_parent_of_an_equal_tier_works_once_it_is_built(self) -> None:
        tree = tree_of(*NODES, domain("s", 2, nodes_of("n0")), domain("p", 2, exact("s")))
        assert tree.ready
        assert (tree.parent("s"), tree.nodes["p"]) == ("p", ("n0",))

    def test_the_parent_search_looks_at_higher_tiers_only(self) -> None:
        # p claims s before s arrives; when s arrives, p is no higher, so p's nodes are not built again.
        tree = tree_of(*NODES, domain("p", 0, exact("s")), domain("s", 0, nodes_of("n0")))
        assert tree.nodes.get("p", ()) in ((), ("n0",))
        assert tree.ready

    def test_a_long_chain_is_no_problem(self) -> None:
        chain = [domain(f"c{tier}", tier, exact(f"c{tier - 1}") if tier else nodes_of("n0")) for tier in range(400)]
        tree = tree_of(*NODES, *chain)
        assert tree.nodes["c399"] == ("n0",)
