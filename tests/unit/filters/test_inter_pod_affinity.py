"""InterPodAffinity: the rules that few recorded rows pin down."""

from __future__ import annotations

from cpsched.filters import (
    FILTERS,
    Args,
    Code,
    Features,
    add_task,
    chosen,
    feasible,
    first_failure,
    prefilter,
    remove_task,
)
from tests.unit.filters.build import cluster_of, node_json, pod_json, task_of, verdict, verdicts
from tests.unit.filters.build_wishes import away, near, passing, term

NAME = "InterPodAffinity"
NODES = [node_json(f"{zone}{i}", {"host": f"{zone}{i}", "zone": zone}) for zone in "xy" for i in (1, 2)]


def test_company_must_be_in_the_domain() -> None:
    cluster = cluster_of(NODES, [pod_json("q", "x1", {"app": "a"})])
    found = verdicts(NAME, task_of(pod_json("p", **near(term(app="a")))), cluster)
    assert passing(found) == {"x1", "x2"}
    assert found["y1"].code is Code.UNRESOLVABLE
    assert found["y1"].reasons == ("node(s) didn't match pod affinity rules",)


def test_first_of_its_kind_goes_anywhere() -> None:
    task = task_of(pod_json("p", "", {"app": "a"}, **near(term(app="a"))))
    assert passing(verdicts(NAME, task, cluster_of(NODES))) == {"x1", "x2", "y1", "y2"}


def test_first_pod_rule_needs_a_match_with_itself() -> None:
    task = task_of(pod_json("p", "", {"app": "b"}, **near(term(app="a"))))
    assert passing(verdicts(NAME, task, cluster_of(NODES))) == set()


def test_first_pod_rule_ends_with_the_first_match_anywhere() -> None:
    task = task_of(pod_json("p", "", {"app": "a"}, **near(term(app="a"))))
    cluster = cluster_of(NODES, [pod_json("q", "x1", {"app": "a"})])
    assert passing(verdicts(NAME, task, cluster)) == {"x1", "x2"}


def test_first_pod_rule_looks_at_pods_that_match_all_terms() -> None:
    """Pods that match one term each are no task's company, so the task may still be the first."""
    both = {"app": "a", "tier": "t"}
    task = task_of(pod_json("p", "", both, **near(term(app="a"), term("host", tier="t"))))
    partly = [pod_json("q", "x1", {"app": "a"}), pod_json("r", "x1", {"tier": "t"})]
    assert passing(verdicts(NAME, task, cluster_of(NODES, partly))) == {"x1", "x2", "y1", "y2"}
    whole = [*partly, pod_json("s", "y1", both)]
    assert passing(verdicts(NAME, task, cluster_of(NODES, whole))) == {"y1"}


def test_first_pod_still_needs_the_key() -> None:
    task = task_of(pod_json("p", "", {"app": "a"}, **near(term("rack", app="a"))))
    assert passing(verdicts(NAME, task, cluster_of(NODES))) == set()


def test_counts_per_key_may_come_from_different_pods() -> None:
    both = {"app": "a", "tier": "t"}
    nodes = [node_json("m", {"host": "m", "zone": "x"}), node_json("n", {"zone": "x"}), node_json("o", {"host": "m"})]
    task = task_of(pod_json("p", **near(term("zone", app="a"), term("host", tier="t"))))
    cluster = cluster_of(nodes, [pod_json("q", "n", both), pod_json("r", "o", both)])
    assert passing(verdicts(NAME, task, cluster)) == {"m"}


def test_own_anti_affinity_before_that_of_others() -> None:
    cluster = cluster_of(NODES, [pod_json("q", "x1", {"app": "a"}, **away(term(app="b")))])
    own = verdicts(NAME, task_of(pod_json("p", "", {"app": "b"}, **away(term(app="a")))), cluster)
    assert own["x2"].reasons == ("node(s) didn't match pod anti-affinity rules",)
    theirs = verdicts(NAME, task_of(pod_json("p", "", {"app": "b"})), cluster)
    assert theirs["x2"].reasons == ("node(s) didn't satisfy existing pods anti-affinity rules",)
    assert {own["x2"].code, theirs["x2"].code} == {Code.UNSCHEDULABLE}
    assert passing(own) == passing(theirs) == {"y1", "y2"}


def test_nodes_without_the_key_are_free_of_anti_affinity() -> None:
    nodes = [*NODES, node_json("bare")]
    cluster = cluster_of(nodes, [pod_json("q", "bare", {"app": "a"}, **away(term(app="a")))])
    task = task_of(pod_json("p", "", {"app": "a"}, **away(term(app="a"))))
    assert passing(verdicts(NAME, task, cluster)) == set(cluster.nodes)


def test_any_anti_term_suffices_but_affinity_needs_all() -> None:
    cluster = cluster_of(NODES, [pod_json("q", "x1", {"app": "a"})])
    anti = task_of(pod_json("p", **away(term(app="zzz"), term("host", app="a"))))
    assert passing(verdicts(NAME, anti, cluster)) == {"x2", "y1", "y2"}


def test_symmetry_does_not_exist_for_affinity() -> None:
    cluster = cluster_of(NODES, [pod_json("q", "x1", {"app": "a"}, **near(term(app="b")))])
    assert prefilter(task_of(pod_json("p", "", {"app": "c"})), cluster, [NAME], Args()).skipped == {NAME}


def test_namespace_selector_of_existing_pods_sees_the_newcomers_namespace() -> None:
    selector = {**term(app="a"), "namespaceSelector": {"matchLabels": {"team": "x"}}}
    cluster = cluster_of(
        NODES,
        [pod_json("q", "x1", namespace="other", **away(selector))],
        Namespace=[{"metadata": {"name": "mine", "labels": {"team": "x"}}}, {"metadata": {"name": "yours"}}],
    )
    mine = task_of(pod_json("p", "", {"app": "a"}, namespace="mine"))
    yours = task_of(pod_json("p", "", {"app": "a"}, namespace="yours"))
    assert passing(verdicts(NAME, mine, cluster)) == {"y1", "y2"}
    assert passing(verdicts(NAME, yours, cluster)) == set(cluster.nodes)


def test_namespace_selector_of_the_newcomer_knows_existing_namespaces_only() -> None:
    selector = {**term(app="a"), "namespaceSelector": {"matchLabels": {"team": "x"}}}
    namespaces = [{"metadata": {"name": "known", "labels": {"team": "x"}}}]
    task = task_of(pod_json("p", **away(selector)))
    for namespace, expected in (("known", {"y1", "y2"}), ("unknown", {"x1", "x2", "y1", "y2"})):
        cluster = cluster_of(NODES, [pod_json("q", "x1", {"app": "a"}, namespace=namespace)], Namespace=namespaces)
        assert passing(verdicts(NAME, task, cluster)) == expected
    everywhere = task_of(pod_json("p", **away({**term(app="a"), "namespaceSelector": {}})))
    cluster = cluster_of(NODES, [pod_json("q", "x1", {"app": "a"}, namespace="unknown")])
    assert passing(verdicts(NAME, everywhere, cluster)) == {"y1", "y2"}


def test_namespace_selector_content_with_no_labels_means_every_task_up_to_1_36() -> None:
    not_x = {"matchExpressions": [{"key": "team", "operator": "NotIn", "values": ["x"]}]}
    task = task_of(pod_json("p", **away({**term(app="a"), "namespaceSelector": not_x})))
    namespaces = [{"metadata": {"name": "excluded", "labels": {"team": "x"}}}]
    cluster = cluster_of(NODES, [pod_json("q", "x1", {"app": "a"}, namespace="excluded")], Namespace=namespaces)
    assert passing(verdicts(NAME, task, cluster, Args(Features.of("1.36")))) == {"y1", "y2"}
    assert passing(verdicts(NAME, task, cluster, Args(Features.of("head")))) == set(cluster.nodes)


def test_terminating_pods_still_count() -> None:
    going = pod_json("q", "x1", {"app": "a"}, **away(term(app="b")))
    going["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    task = task_of(pod_json("p", "", {"app": "b"}))
    assert passing(verdicts(NAME, task, cluster_of(NODES, [going]))) == {"y1", "y2"}


def test_hooks_add_and_remove_all_three_counts() -> None:
    cluster = cluster_of(NODES)
    task = task_of(pod_json("p", "", {"app": "b"}, **away(term(app="a"))))
    other = task_of(pod_json("q", "", {"app": "a"}, **away(term(app="b"))), 1)
    filters = chosen([NAME])
    before = prefilter(task, cluster, [NAME], Args())
    after = before.clone(filters)
    add_task(after, filters, task, other, cluster.nodes["x1"])
    assert not first_failure(task, cluster.nodes["x2"], cluster, after, filters).is_success
    assert first_failure(task, cluster.nodes["x2"], cluster, before, filters).is_success
    remove_task(after, filters, task, other, cluster.nodes["x1"])
    assert first_failure(task, cluster.nodes["x2"], cluster, after, filters).is_success
    state = after.states[NAME]
    assert not any(state.anti.values())
    assert not any(state.existing_anti.values())


def test_hooks_know_own_anti_affinity_and_namespace_labels() -> None:
    namespaces = [{"metadata": {"name": "mine", "labels": {"team": "x"}}}]
    cluster = cluster_of(NODES, [pod_json("r", "y1", {"app": "z"})], Namespace=namespaces)
    filters = chosen([NAME])
    shy = task_of(
        pod_json("p", "", {"app": "b"}, namespace="mine", **away({**term(app="a"), "namespaces": ["mine", "other"]}))
    )
    prefiltered = prefilter(shy, cluster, [NAME], Args())
    plain = task_of(pod_json("q", "", {"app": "a"}, namespace="other"), 1)
    add_task(prefiltered, filters, shy, plain, cluster.nodes["x1"])
    found = first_failure(shy, cluster.nodes["x2"], cluster, prefiltered, filters)
    assert found.reasons == ("node(s) didn't match pod anti-affinity rules",)
    by_team = {**term(app="b"), "namespaceSelector": {"matchLabels": {"team": "x"}}}
    unwelcoming = task_of(pod_json("q", "", {"app": "c"}, namespace="other", **away(by_team)), 2)
    add_task(prefiltered, filters, shy, unwelcoming, cluster.nodes["y1"])
    found = first_failure(shy, cluster.nodes["y2"], cluster, prefiltered, filters)
    assert found.reasons == ("node(s) didn't satisfy existing pods anti-affinity rules",)


def test_removing_the_last_company_makes_the_task_the_first() -> None:
    cluster = cluster_of(NODES, [pod_json("q", "x1", {"app": "a"})])
    task = task_of(pod_json("p", "", {"app": "a"}, **near(term(app="a"))))
    state = FILTERS[NAME].prefilter(task, cluster, Args()).state
    hook = FILTERS[NAME].remove_task
    assert hook is not None
    hook(state, task, cluster.nodes["x1"].tasks[0], cluster.nodes["x1"])
    assert FILTERS[NAME].filter(state, task, cluster.nodes["y1"], cluster).is_success


def test_skipping_hides_the_anti_affinity_of_nominated_pods() -> None:
    cluster = cluster_of(NODES)
    task = task_of(pod_json("p", "", {"app": "b"}))
    filters = chosen([NAME])
    prefiltered = prefilter(task, cluster, [NAME], Args())
    add_task(prefiltered, filters, task, task_of(pod_json("q", **away(term(app="b"))), 1), cluster.nodes["x1"])
    assert first_failure(task, cluster.nodes["x1"], cluster, prefiltered, filters).is_success


def test_frozen_list_of_nodes_with_anti_affinity() -> None:
    cluster = cluster_of(NODES, [pod_json("q", "x1", {"app": "a"}, **away(term(app="b")))])
    cluster.freeze_anti_affinity()
    cluster.add(task_of(pod_json("late", "", {"app": "c"}, **away(term("host", app="b"))), 1), "y1")
    cluster.add(task_of(pod_json("seen", "", {"app": "c"}, **away(term("host", app="d"))), 2), "x1")
    assert passing(verdicts(NAME, task_of(pod_json("p", "", {"app": "b"})), cluster)) == {"y1", "y2"}
    assert passing(verdicts(NAME, task_of(pod_json("p", "", {"app": "d"})), cluster)) == {"x2", "y1", "y2"}
    own = task_of(pod_json("p", **away(term("host", app="c"))))
    assert passing(verdicts(NAME, own, cluster)) == {"x2", "y2"}


def test_added_and_removed_tasks_change_the_counts() -> None:
    cluster = cluster_of(NODES)
    task = task_of(pod_json("p", **away(term(app="a"))))
    other = task_of(pod_json("q", "", {"app": "a"}), 1)
    cluster.add(other, "x1")
    assert passing(verdicts(NAME, task, cluster)) == {"y1", "y2"}
    cluster.remove(other)
    assert len(feasible(task, cluster, [NAME], Args()).passing) == 4


def test_affinity_that_does_not_parse() -> None:
    broken = {"topologyKey": "zone", "labelSelector": {"matchExpressions": [{"key": "a", "operator": "In"}]}}
    status = verdict(NAME, task_of(pod_json("p", **away(broken))), cluster_of(NODES), "x1")
    assert status.code is Code.UNRESOLVABLE
    assert status.reasons[0].startswith("parsing pod: requiredAntiAffinityTerms: values: Invalid value")
