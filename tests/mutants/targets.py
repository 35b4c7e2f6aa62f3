"""What is mutated and which tests must notice; and mutants that no test can notice, with the reason."""

from __future__ import annotations

TARGETS: dict[str, tuple[str, ...]] = {
    "cpsched/check/charging.py": ("tests/unit/test_check_charging.py", "tests/property/test_shortcuts_charging.py"),
    "cpsched/check/decision.py": ("tests/unit/test_check_decision.py", "tests/unit/test_check_queues.py"),
    "cpsched/check/evictions.py": ("tests/unit/test_check_evictions.py", "tests/unit/test_check_rights.py"),
    "cpsched/check/gangs.py": ("tests/unit/test_check_gangs.py",),
    "cpsched/check/identical.py": ("tests/property/test_shortcuts_rights.py", "tests/property/test_shortcuts_off.py"),
    "cpsched/check/placement.py": ("tests/unit/test_check_placement.py",),
    "cpsched/check/protections.py": ("tests/unit/test_check_protections.py",),
    "cpsched/check/queues.py": ("tests/unit/test_check_queues.py",),
    "cpsched/check/rights.py": ("tests/unit/test_check_rights.py", "tests/unit/test_check_charging.py"),
    "cpsched/snapshot/rights.py": ("tests/unit/test_snapshot_rights.py", "tests/unit/test_check_rights.py"),
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
