"""HyperNode of topology.volcano.sh: a domain of the network, such as a rack, with nodes or smaller domains inside."""

from __future__ import annotations

from pydantic import Field

from cpsched.objects.base import INT32_MAX, Items, LabelSelector, Object, Shape


class ExactMatch(Shape):
    """One member by its name."""

    name: str = ""


class RegexMatch(Shape):
    """Nodes whose names a pattern of Go's regexp syntax is found in."""

    pattern: str = ""


class MemberSelector(Shape):
    """Who is a member; the API server accepts exactly one of the three."""

    exact_match: ExactMatch | None = None
    regex_match: RegexMatch | None = None
    label_match: LabelSelector | None = None


class Member(Shape):
    """Nodes, or another HyperNode."""

    type: str = ""
    selector: MemberSelector = MemberSelector()


class HyperNodeSpec(Shape):
    """How near the nodes of the domain are to each other, and which they are."""

    tier: int = Field(0, ge=0, le=INT32_MAX)
    tier_name: str = ""
    members: Items[Member] = ()


class HyperNode(Object):
    """A domain; the smaller its tier, the nearer its nodes."""

    spec: HyperNodeSpec = HyperNodeSpec()
