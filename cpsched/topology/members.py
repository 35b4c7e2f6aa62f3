"""Which nodes a HyperNode's member names; mirrors `pkg/util/hypernode:GetMembers`."""

from __future__ import annotations

from collections.abc import Mapping

from cpsched.objects.topology import MemberSelector
from cpsched.selectors import Labels, SelectorError, label_selector
from cpsched.topology.regex import compiled


def members(selector: MemberSelector, labels_by_node: Mapping[str, Labels]) -> set[str]:
    """Names of nodes, by name whether or not there is such a node; several selectors are united.

    A pattern or a label selector that Kubernetes cannot read empties the whole member.
    """
    found: set[str] = set()
    if selector.exact_match is not None:
        if not selector.exact_match.name:
            return found
        found.add(selector.exact_match.name)
    if selector.regex_match is not None:
        pattern = compiled(selector.regex_match.pattern)
        if pattern is None:
            return set()
        found.update(name for name in labels_by_node if pattern.found_in(name))
    labels = selector.label_match
    if labels is not None and (labels.match_labels or labels.match_expressions):
        try:
            wanted = label_selector(labels)
        except SelectorError:
            return set()
        found.update(name for name, own in labels_by_node.items() if wanted.matches(own))
    return found
