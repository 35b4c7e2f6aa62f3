"""cpsched.compare: verdicts, the first difference, what differs, and reasons that are true."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import cpsched
from cpsched.comparison import reasons as reasons_module
from cpsched.comparison import volcano_trace
from cpsched.comparison.compare import Comparison
from cpsched.comparison.session import CaseOptions, open_session
from cpsched.greedy.volcano.engine import Options as VolcanoOptions
from cpsched.importers.corpus import cases
from cpsched.options import Options
from cpsched.ranking import Gap
from cpsched.solution import Solution
from tests.judge import cluster, conf, job, pending, running

ROOT = Path(__file__).parents[3]
TINY, ISSUES = ROOT / "instances" / "tiny", ROOT / "instances" / "issues"


def compared(path: Path, **options: Any) -> Comparison:
    return cpsched.compare(cpsched.load(path), workers=1, **options)


def reasons(comparison: Comparison, engine: str) -> dict[str, str]:
    return {one.task: one.reason for one in comparison[engine].differences}


def test_the_heuristic_is_behind_at_the_first_level_that_differs() -> None:
    found = compared(TINY / "preempt-one-is-enough.json")
    assert (found.engines, found.reference) == (("volcano", "optimal"), "optimal")
    assert found["optimal"].verdict == "optimal"
    own = found["volcano"]
    assert (own.verdict, own.proved) == ("behind", True)
    assert own.gap is not None
    assert (own.gap.level, own.gap.value, own.gap.best) == ("victim_priority_sum", 6442451064, 2147483748)
    assert own.sentence == (
        "worse than the proved optimum at victim_priority_sum: "
        "it has 3 victims with priority sum 120 instead of 1 victim with priority sum 100"
    )
    assert next(iter(found.levels)) == "jobs_admitted[1000]"
    assert found.levels["victim_count"] == {"volcano": 3, "optimal": 1}


def test_needless_victims_are_called_so_in_the_order_they_went() -> None:
    found = reasons(compared(TINY / "preempt-one-is-enough.json"), "volcano")
    order = "notebook/task-1, notebook/task-0, finetune/task-0"
    for number, victim in enumerate(("notebook/task-1", "notebook/task-0"), start=1):
        assert found[victim] == (
            f"preempt cleared gpu-node for urgent/task-0, victims in Volcano's order, number {number} of {order}, "
            "none spared afterwards; it was not needed: without this eviction no further rule is broken"
        )


def test_a_victim_that_was_needed_is_not_called_needless() -> None:
    found = reasons(compared(TINY / "priority-sum.json"), "volcano")
    assert "not needed" not in found["l1/task-0"]
    assert found["l2/task-0"].startswith("default/new is placed elsewhere: preempt served default/new (turn 1 of 1)")


def test_a_broken_rule_is_named_with_the_task_it_befalls() -> None:
    found = compared(ISSUES / "volcano-gang-broken-by-tiers.json")
    own = found["volcano"]
    assert own.verdict == "findings"
    assert own.gap is not None
    assert own.gap.level == "findings"
    assert own.sentence == "breaks protect.gang (1 violation) and ranks below every decision that breaks no rule"
    text = reasons(found, "volcano")["pair/task-1"]
    assert text.endswith("that breaks protect.gang: default/pair: 1 tasks are left of a minimum of 2")


def test_a_waiting_task_has_the_schedulers_own_words() -> None:
    found = reasons(compared(TINY / "overcommitted-dimension.json"), "volcano")
    assert found == {"cpu-only/task-0": "0/1 nodes are unavailable: 1 Insufficient memory."}


def test_kube_tells_candidates_and_who_comes_back() -> None:
    found = compared(TINY / "kube-pdb-overcount.yaml", model="kube")
    assert found.engines == ("kube", "optimal")
    texts = reasons(found, "kube")
    assert texts["default/c"].startswith("preemption for default/preemptor: n2 is first of 2 candidate nodes")
    assert texts["default/preemptor"] == "tried 1 of 1: it fits nowhere, preemption clears n2 for it"


def test_a_tie_is_no_difference_in_rank() -> None:
    equal = cluster(job("a", pending(1)), nodes={"n1": 4, "n2": 4})
    decisions = {name: Solution(binds={"a/task-0": name}) for name in ("n1", "n2")}
    found = cpsched.compare(cpsched.load(equal), (), decisions=decisions)
    assert {one.verdict for one in found.judgements} == {"best", "as good"}
    (other,) = (one for one in found.judgements if one.differences)
    assert other.differences[0].reason == "a tie: no level distinguishes the two"
    assert other.sentence == f"equal on every level to {found.reference}; that it is optimal is not proved"


def test_a_search_that_time_ended_says_what_is_open() -> None:
    """Each answer that is not proved has the levels and bounds of the search it is measured by."""
    found = cpsched.compare(cpsched.load(cluster(job("a", pending(1)), nodes={"n1": 4})), ["volcano", "optimal"])
    one = replace(found.judgements[0], left_open="tasks_bound (4; at most 6)")
    for verdict in ("best", "as good"):
        assert replace(one, verdict=verdict).sentence.endswith("is not proved: tasks_bound (4; at most 6)")
    behind = replace(one, verdict="behind", proved=False, gap=Gap("tasks_bound", 3, 4, 1))
    assert behind.sentence.endswith("; whether a still better decision exists is open: tasks_bound (4; at most 6)")
    assert found.judgements[0].left_open == ""


def test_decisions_from_elsewhere_are_checked_and_explained_only_if_the_mirror_agrees() -> None:
    instance = cpsched.load(TINY / "preempt-one-is-enough.json")
    mirror = cpsched.solve(instance, engine="volcano")
    same = mirror.model_copy(update={"engine": "", "unplaced": {}})
    other = same.model_copy(update={"evictions": mirror.evictions[1:]})
    found = cpsched.compare(instance, ("optimal",), decisions={"same": same, "other": other}, workers=1)
    assert "preempt cleared gpu-node" in reasons(found, "same")["notebook/task-0"]
    assert reasons(found, "other")["notebook/task-0"].startswith("the engine states no reason; it was not needed")


def test_the_better_heuristic_is_the_reference_if_no_task_proves_anything() -> None:
    instance = cpsched.load(TINY / "preempt-one-is-enough.json")
    idle = Solution(engine="idle")
    found = cpsched.compare(instance, ("volcano",), decisions={"idle": idle})
    assert (found.reference, found["volcano"].verdict, found["idle"].verdict) == ("volcano", "best", "behind")
    assert found["idle"].sentence.endswith(
        "it admits 0 starving jobs of priority 1000 instead of 1; whether a still better decision exists is open"
    )


def test_an_engine_without_an_answer_ranks_last() -> None:
    instance = cpsched.load(TINY / "preempt-one-is-enough.json")
    silent = Solution(engine="silent", status="unknown")  # type: ignore[arg-type]
    found = cpsched.compare(instance, ("volcano",), decisions={"silent": silent})
    assert found["silent"].verdict == "none"
    assert found["silent"].sentence == "no decision (unknown)"
    assert found.reference == "volcano"


def test_a_claim_to_be_optimal_is_no_proof() -> None:
    """A decision that calls itself the optimum, under that very name, is at best as good as any engine here."""
    instance = cpsched.load(TINY / "preempt-one-is-enough.json")
    claim = cpsched.solve(instance, workers=1)
    assert claim.engine == "optimal"
    found = cpsched.compare(instance, ("volcano",), decisions={"optimal": claim})
    assert (found["optimal"].verdict, found["optimal"].proved) == ("best", False)
    assert (found["volcano"].verdict, found["volcano"].proved) == ("behind", False)


def test_victims_spared_name_the_job_that_gets_nothing() -> None:
    never = {"priorityClassName": "p100", "preemptionPolicy": "Never"}
    world = cluster(job("old", running(4), priority=10), job("new", pending(4, **never), priority=100))
    instance = cpsched.load(world)
    tempted = Solution.parse({"pipelined": {"new/task-0": "n1"}, "evictions": [{"task": "old/task-0"}]})
    found = cpsched.compare(
        instance, ("volcano",), conf=conf("allocate, preempt", "priority"), decisions={"x": tempted}
    )
    assert found["x"].verdict == "findings"
    assert found.reference == "volcano"
    assert found["x"].differences[0].kind == "victim"


def test_json_markdown_and_html_hold_the_same_words() -> None:
    found = compared(TINY / "preempt-one-is-enough.json")
    data = json.loads(json.dumps(found.to_dict()))
    assert (data["kind"], data["reference"], data["instance_sha256"]) == (
        "Comparison",
        "optimal",
        found.instance_sha256,
    )
    assert [one["engine"] for one in data["engines"]] == ["volcano", "optimal"]
    assert data["engines"][0]["first_difference"]["level"] == "victim_priority_sum"
    assert data["engines"][0]["solution"]["kind"] == "Solution"
    assert "solution" not in found.to_dict(solutions=False)["engines"][0]
    for text in (str(found), found.to_markdown(), found._repr_html_()):
        assert "worse than the proved optimum at victim" in text.replace("\\_", "_")
        assert "first difference" in text
        assert "notebook/task-1" in text
    assert "| victim_count | less | 3 | 1 | differs |" in found.to_markdown()


def test_names_cannot_break_out_of_markdown_or_html() -> None:
    name = "<b>|`x`\n@team [y](z) #1"
    world = cluster(job("a", pending(1)))
    instance = cpsched.load(world)
    decision = Solution.parse({"binds": {name: "n1"}})
    found = cpsched.compare(instance, ("volcano",), decisions={"x|y": decision})
    shown = found.to_markdown()
    assert name not in shown
    row = next(line for line in shown.splitlines() if "team" in line and line.startswith("| &lt;b&gt;"))
    assert r"\|\`x\` &#64;team \[y\](z) \#1" in row
    assert len([cell for cell in row.replace("\\|", "").split("|") if cell.strip()]) == 4
    assert "<b>|" not in found._repr_html_()
    assert "&lt;b&gt;|" in found._repr_html_()


def test_an_engine_named_twice_or_unknown_is_refused() -> None:
    instance = cpsched.load(TINY / "preempt-one-is-enough.json")
    with pytest.raises(cpsched.InputError, match="engine volcano is named twice"):
        cpsched.compare(instance, ("mirror", "volcano"))
    with pytest.raises(cpsched.InputError, match="engine volcano is named twice"):
        cpsched.compare(instance, ("volcano",), decisions={"volcano": Solution()})
    with pytest.raises(cpsched.InputError, match="unknown engine vulcano; did you mean volcano"):
        cpsched.compare(instance, ("vulcano",))
    with pytest.raises(cpsched.InputError, match="no engine is named"):
        cpsched.compare(instance, ())


def test_without_recorded_decisions_there_is_nothing_to_replay() -> None:
    with pytest.raises(cpsched.InputError, match="no decision is recorded"):
        compared(TINY / "preempt-one-is-enough.json", engines=("recorded",))


@pytest.mark.parametrize("bound", ["MOST_TRIALS", "MOST_CHECKED"])
def test_the_checker_tries_to_do_without_the_first_victims_only(bound: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """And says so of the others; in a large cluster each trial takes long."""
    monkeypatch.setattr(reasons_module, bound, 1)
    first, second = reasons(compared(TINY / "preempt-one-is-enough.json"), "volcano").values()
    assert first.endswith("; it was not needed: without this eviction no further rule is broken")
    assert second.endswith("; whether it was needed was not tried")


def test_the_trace_without_every_attempt_gives_the_same_reasons(monkeypatch: pytest.MonkeyPatch) -> None:
    """To tell of every attempt takes the long way through every node: in a large cluster minutes."""
    asked: list[VolcanoOptions] = []
    replay = volcano_trace.replay

    def recording(instance: Any, policy: Any, options: VolcanoOptions) -> Any:
        asked.append(options)
        return replay(instance, policy, options)

    def in_full(instance: Any, policy: Any, options: VolcanoOptions) -> Any:
        return replay(instance, policy, VolcanoOptions(seed=options.seed, trace=True))

    stated = 0
    for case in (*cases(str(TINY)), *cases(str(ISSUES))):
        session = open_session(case, CaseOptions())
        if not session.policy.is_kube:
            monkeypatch.setattr(volcano_trace, "replay", recording)
            short = volcano_trace.VolcanoTrace(session, Options())
            monkeypatch.setattr(volcano_trace, "replay", in_full)
            full = volcano_trace.VolcanoTrace(session, Options())
            assert short.solution == full.solution
            for eviction in short.solution.evictions:
                assert short.evicted(eviction.task) == full.evicted(eviction.task)
            for task in (*short.solution.binds, *short.solution.reserves):
                assert short.placed(task) == full.placed(task)
                stated += 1
    assert stated > 30
    assert not any(options.trace for options in asked)
