"""What is mutated and which tests must notice; and mutants that no test can notice, with the reason."""

from __future__ import annotations

TARGETS: dict[str, tuple[str, ...]] = {
    "cpsched/rules/charging.py": ("tests/unit/rules/test_charging.py", "tests/property/test_shortcuts_charging.py"),
    "cpsched/rules/decision.py": ("tests/unit/rules/test_decision.py", "tests/unit/rules/test_queues.py"),
    "cpsched/rules/evictions.py": ("tests/unit/rules/test_evictions.py", "tests/unit/rules/test_rights.py"),
    "cpsched/rules/gangs.py": ("tests/unit/rules/test_gangs.py",),
    "cpsched/rules/identical.py": ("tests/property/test_shortcuts_rights.py", "tests/property/test_shortcuts_off.py"),
    "cpsched/rules/placement.py": ("tests/unit/rules/test_placement.py",),
    "cpsched/rules/protections.py": ("tests/unit/rules/test_protections.py",),
    "cpsched/rules/queues.py": ("tests/unit/rules/test_queues.py",),
    "cpsched/rules/rights.py": ("tests/unit/rules/test_rights.py", "tests/unit/rules/test_charging.py"),
    "cpsched/snapshot/rights.py": ("tests/unit/test_snapshot_rights.py", "tests/unit/rules/test_rights.py"),
    "cpsched/filters/harmless.py": ("tests/unit/filters/test_harmless.py", "tests/unit/filters/test_final_state.py"),
    "cpsched/objectives.py": ("tests/unit/test_objectives.py",),
    "cpsched/optimum/search/result.py": ("tests/unit/optimum/search/test_result.py",),
    "cpsched/optimum/model/objective/jobs.py": (
        "tests/oracle/test_optimum.py",
        "tests/oracle/test_random_optimum.py",
    ),
    "cpsched/optimum/model/objective/placement.py": (
        "tests/oracle/test_optimum.py",
        "tests/oracle/test_random_optimum.py",
    ),
    "cpsched/optimum/model/objective/queue_deficit.py": (
        "tests/oracle/test_optimum.py",
        "tests/oracle/test_random_optimum.py",
    ),
    "cpsched/optimum/model/objective/victims.py": (
        "tests/oracle/test_optimum.py",
        "tests/oracle/test_random_optimum.py",
    ),
    "cpsched/optimum/model/constraints/gang.py": (
        "tests/oracle/test_random_optimum.py",
        "tests/oracle/test_optimum.py",
    ),
    "cpsched/optimum/model/constraints/queue.py": (
        "tests/unit/optimum/model/constraints/test_queue.py",
        "tests/oracle/test_random_optimum.py",
    ),
    "cpsched/greedy/volcano/statement.py": (
        "tests/unit/greedy_volcano/test_evictions.py",
        "tests/unit/greedy_volcano/test_allocate.py",
        "tests/conformance/test_volcano_rows.py",
    ),
}
"""Source file → the tests of its rules, run in this order until one is red."""

EQUIVALENT: dict[tuple[str, str, str], str] = {
    ("cpsched/filters/harmless.py", "True", "False"): "a dataclass that is not frozen is the same to who changes none",
}
"""(file, before, after) → why no decision, level or text can differ."""
