"""The figures over recorded decisions as one page of documentation."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from statistics import median

from cpsched.comparison.compare import compared
from cpsched.comparison.contender import OPTIMAL, contend, given, recorded
from cpsched.comparison.optima import Optima
from cpsched.importers.corpus import cases
from cpsched.objectives import PRIORITY_OFFSET
from cpsched.options import Options
from cpsched.snapshot import Snapshot
from cpsched.tables import md
from tests.real.measure import Decision, session_of

WORST = 10


def figures(found: Sequence[list[Decision]]) -> str:
    """All tables."""
    flat = [one for case in found for one in case]
    parts = [_overall(found, flat), _rules(flat), _levels(flat), _profiles(flat), _proofs(found)]
    return "\n\n".join(parts)


def victims_table(found: Iterable[list[Decision]]) -> str:
    """How many victims recorded decisions have, and how many of these their own placements need."""
    evicting = [one for case in found for one in case if one.victims]
    rows: dict[str, list[Decision]] = defaultdict(list)
    for one in evicting:
        rows[one.profile].append(one)
    lines = ["| profile | decisions that evict | victims | of these needed | decisions with one that is not |"]
    lines.append("|---|--:|--:|--:|--:|")
    for name, some in [*sorted(rows.items()), ("together", evicting)]:
        spare = sum(one.victims > one.needed for one in some)
        victims, needed = sum(one.victims for one in some), sum(one.needed for one in some)
        lines.append(
            f"| `{name}` | {len(some):,} | {victims:,} | {needed:,} | {spare:,} |".replace("`together`", "together")
        )
    return "\n".join(lines)


def worst(flat: Iterable[Decision]) -> list[Decision]:
    """The decisions without findings that are furthest behind: on the highest level, by the most, once per session."""
    order = sorted(
        (one for one in flat if one.is_behind and one.gap),
        key=lambda one: (one.place, -(one.gap.difference or 0) if one.gap else 0, one.case),
    )
    first: dict[str, Decision] = {}
    for one in order:
        first.setdefault(one.case, one)
    return list(first.values())[:WORST]


def reasons_of(corpus: str, model: str, chosen: Sequence[Decision], optima: Optima, options: Options) -> str:
    """One sentence each: where it is behind, and what the replay says about the first task that fares worse."""
    wanted = {one.case: one for one in chosen}
    stated: dict[str, str] = {}
    for case in cases(corpus):
        if case.id not in wanted:
            continue
        session = session_of(case, model)
        solution = recorded(session, Snapshot(session.instance, session.policy))[wanted[case.id].number - 1][0]
        contenders = [given(session, "recorded", solution), contend(session, OPTIMAL, options, optima)]
        own = compared(session, contenders, options)["recorded"]
        first = next(iter(own.differences), None)
        why = (
            f"{first.task}: {first.here}; in the optimum: {first.there}. Why: {first.reason.rstrip('.')}."
            if first
            else ""
        )
        stated[case.id] = f"`{case.id.partition('#')[2]}` is {md(own.sentence)}. {md(why)}".rstrip()
    return "\n".join(f"{number}. {stated[one.case]}" for number, one in enumerate(chosen, start=1))


def share(part: int, whole: int) -> str:
    """A count and its share."""
    return f"{part:,} ({part / whole:.1%})" if whole else "0"


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Markdown; the first column is text, the others are numbers."""
    lines = [f"| {' | '.join(columns)} |", f"|{'|'.join(['---', *['--:'] * (len(columns) - 1)])}|"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])


def _overall(found: Sequence[list[Decision]], flat: Sequence[Decision]) -> str:
    clean = [one for one in flat if not one.rules]
    compared_ = [one for one in clean if one.optimum is not None]
    whole = [case for case in found if case and case[0].optimum is not None]
    rows = [
        ("sessions", f"{len(found):,}"),
        ("different decisions recorded in them", f"{len(flat):,}"),
        ("decisions that break a rule", share(len(flat) - len(clean), len(flat))),
        ("decisions that break none", share(len(clean), len(flat))),
        ("of these, compared with the optimum", f"{len(compared_):,}"),
        ("— optimal, proved", share(sum(one.is_optimal for one in compared_), len(compared_))),
        ("— worse: a better decision is known", share(sum(one.is_behind for one in compared_), len(compared_))),
        (
            "— worse on another level than the last one",
            share(sum(one.is_behind and not one.on_last for one in compared_), len(compared_)),
        ),
        (
            "— equal to the best found, not proved",
            share(sum(not one.is_optimal and not one.is_behind for one in compared_), len(compared_)),
        ),
        ("sessions compared in which every recorded decision is optimal", _always(whole)),
    ]
    return table(["", "count"], rows)


def _always(whole: Sequence[list[Decision]]) -> str:
    return share(sum(all(one.is_optimal for one in case) for case in whole), len(whole))


def _rules(flat: Sequence[Decision]) -> str:
    counts = Counter(rule for one in flat for rule in one.rules)
    rows = [(f"`{rule}`", share(count, len(flat))) for rule, count in counts.most_common()]
    return "## Rules broken\n\n" + table(["rule", "decisions"], rows)


def _levels(flat: Sequence[Decision]) -> str:
    by_level: dict[str, list[int | None]] = defaultdict(list)
    places: dict[str, int] = {}
    for one in flat:
        if one.gap is not None:
            name = one.gap.level.partition("[")[0]
            between = " (between admission levels)" if "[" in one.gap.level and name != "jobs_admitted" else ""
            by_level[name + between].append(_amount(name, one))
            places[name + between] = min(places.get(name + between, 99), one.place)
    total = sum(map(len, by_level.values()))
    rows = []
    for name in sorted(by_level, key=lambda name: -len(by_level[name])):
        known = [amount for amount in by_level[name] if amount is not None]
        plain, _, suffix = name.partition(" ")
        shown = (f"{median(known):,g}", f"{max(known):,}") if known else ("", "")
        rows.append((f"`{plain}` {suffix}".strip(), share(len(by_level[name]), total), *shown))
    columns = ["first level behind", "decisions", "by, median", "by, at most"]
    return "## Where the others fall behind\n\n" + table(columns, rows)


def _amount(name: str, one: Decision) -> int | None:
    """How much worse; of a sum of priorities, the victims too many (none: same number, higher priorities)."""
    assert one.gap is not None
    if name != "victim_priority_sum" or one.gap.difference is None:
        return one.gap.difference
    return (one.gap.difference + PRIORITY_OFFSET // 2) // PRIORITY_OFFSET


def _profiles(flat: Sequence[Decision]) -> str:
    groups: dict[str, list[Decision]] = defaultdict(list)
    for one in flat:
        groups[one.profile].append(one)
    rows = []
    for name, group in sorted(groups.items()):
        held = [one for one in group if not one.rules and one.optimum is not None]
        counts = [sum(one.is_optimal for one in held), sum(one.is_behind for one in held)]
        broken = share(sum(bool(one.rules) for one in group), len(group))
        shares = (share(count, len(held)) for count in counts)
        rows.append((f"`{name}`", f"{len(group):,}", broken, f"{len(held):,}", *shares))
    columns = ["profile", "decisions", "break a rule", "compared", "optimal", "behind"]
    return "## By kind of session\n\n" + table(columns, rows)


def _proofs(found: Sequence[list[Decision]]) -> str:
    optima = [case[0].optimum for case in found if case and case[0].optimum is not None]
    seconds = sorted(one.seconds for one in optima)
    rows = [
        ("optima", f"{len(optima):,}"),
        ("proved on every level", share(sum(one.proved for one in optima), len(optima))),
        ("median, seconds", f"{median(seconds):.2f}"),
        ("99 of 100 within, seconds", f"{seconds[int(len(seconds) * 0.99)]:.1f}"),
        ("longest, seconds", f"{seconds[-1]:.1f}"),
        ("all together, minutes", f"{sum(seconds) / 60:.1f}"),
    ]
    return "## Proofs, and the time they took\n\n" + table(["", ""], rows)
