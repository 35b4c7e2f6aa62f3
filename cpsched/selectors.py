"""Labels, node selector terms, taints and affinity terms as Kubernetes matches them: parsed once, matched often.

Everything parsed here is frozen and hashable, so two pods with the same wishes share one memo entry.
Mirrors `apimachinery/pkg/labels`, `component-helpers/scheduling/corev1/nodeaffinity`, `api/core/v1/toleration.go`
and `kube-scheduler/framework/types.go` (AffinityTerm).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from cpsched.objects.affinity import NodeSelector, NodeSelectorTerm, PodAffinityTerm, Toleration
from cpsched.objects.base import LabelRequirement, LabelSelector
from cpsched.objects.node import Taint
from cpsched.objects.pod import Pod

Labels = Mapping[str, str]

NODE_NAME_FIELD = "metadata.name"
_INT64 = range(-(2**63), 2**63)
_INTEGER = re.compile(r"[+-]?[0-9]+")
_PLAIN_INTEGER = re.compile(r"0|-?[1-9][0-9]*")
_VALUE = re.compile(r"(?:(?:[A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?")
_NAME = re.compile(r"(?:[A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]")
_PREFIX = re.compile(r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*")
_BAD_VALUE = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)
_LABEL_OPERATORS = frozenset({"In", "NotIn", "Exists", "DoesNotExist"})
_NODE_OPERATORS = _LABEL_OPERATORS | {"Gt", "Lt"}


class SelectorError(ValueError):
    """A selector that Kubernetes cannot parse."""


@dataclass(frozen=True)
class ParsedRequirement:
    """One parsed expression over labels."""

    key: str
    operator: str
    values: frozenset[str] = frozenset()

    def matches(self, labels: Labels) -> bool:
        """Whether the labels meet it; NotIn and DoesNotExist hold where the key is absent."""
        value = labels.get(self.key)
        if self.operator == "In":
            return value in self.values
        if self.operator == "NotIn":
            return value not in self.values
        if self.operator == "Exists":
            return value is not None
        if self.operator == "DoesNotExist":
            return value is None
        return self._compares(value)

    def _compares(self, text: str | None) -> bool:
        number, bound = _int64(text), _int64(next(iter(self.values)))
        if number is None or bound is None:
            return False
        return number > bound if self.operator == "Gt" else number < bound


@dataclass(frozen=True)
class Selector:
    """Requirements, ANDed; None stands for the selector that matches nothing."""

    requirements: tuple[ParsedRequirement, ...] | None

    def matches(self, labels: Labels) -> bool:
        """Whether the labels meet every requirement."""
        return self.requirements is not None and all(r.matches(labels) for r in self.requirements)

    @property
    def is_empty(self) -> bool:
        """Matches everything because it asks for nothing."""
        return self.requirements == ()

    def also(self, requirements: Iterable[ParsedRequirement]) -> Selector:
        """The selector with more requirements; one that matches nothing stays so."""
        return self if self.requirements is None else Selector((*self.requirements, *requirements))


NOTHING = Selector(None)
EVERYTHING = Selector(())


def label_selector(selector: LabelSelector | None) -> Selector:
    """Parse a label selector: absent matches nothing, empty everything; SelectorError where Kubernetes fails."""
    if selector is None:
        return NOTHING
    equal = [_requirement(key, "In", (value,), _LABEL_OPERATORS) for key, value in selector.match_labels.items()]
    expressions = [_requirement(e.key, e.operator, e.values, _LABEL_OPERATORS) for e in selector.match_expressions]
    return Selector((*equal, *expressions))


def equal_labels(labels: Labels) -> Selector:
    """Every pair must be there, unchecked; no pair matches everything (`SelectorFromSet`)."""
    return Selector(tuple(ParsedRequirement(key, "In", frozenset((value,))) for key, value in labels.items()))


def topology_terms_match(terms: Iterable[Iterable[LabelRequirement]], labels: Labels) -> bool:
    """allowedTopologies: terms ORed, no term allows all, an empty or broken one allows nothing."""
    parsed = [tuple(term) for term in terms]
    return not parsed or any(term and _topology_term_matches(term, labels) for term in parsed)


def _topology_term_matches(term: Iterable[LabelRequirement], labels: Labels) -> bool:
    try:
        return all(_requirement(e.key, "In", e.values, _LABEL_OPERATORS).matches(labels) for e in term)
    except SelectorError:
        return False


@dataclass(frozen=True)
class NodeTerm:
    """One term over a node's labels and its name; a term that did not parse matches nothing."""

    requirements: tuple[ParsedRequirement, ...]
    fields: tuple[ParsedRequirement, ...]
    broken: bool = False

    def matches(self, labels: Labels, name: str) -> bool:
        """Whether a node with these labels and this name meets the term; without a name fields are not looked at."""
        if self.broken or not all(requirement.matches(labels) for requirement in self.requirements):
            return False
        return not name or all(field.matches({NODE_NAME_FIELD: name}) for field in self.fields)


@dataclass(frozen=True)
class NodeTerms:
    """Terms, ORed: none matches nothing."""

    terms: tuple[NodeTerm, ...]

    def matches(self, labels: Labels, name: str) -> bool:
        """Whether some term matches the node."""
        return any(term.matches(labels, name) for term in self.terms)

    @property
    def broken(self) -> bool:
        """Whether some term did not parse."""
        return any(term.broken for term in self.terms)


def node_selector(selector: NodeSelector) -> NodeTerms:
    """Parse a node selector; empty terms are left out, since they match nothing."""
    terms = selector.node_selector_terms
    return NodeTerms(tuple(_node_term(term) for term in terms if term.match_expressions or term.match_fields))


def _node_term(term: NodeSelectorTerm) -> NodeTerm:
    try:
        labels = tuple(_requirement(e.key, e.operator, e.values, _NODE_OPERATORS) for e in term.match_expressions)
        return NodeTerm(labels, tuple(_field(e) for e in term.match_fields))
    except SelectorError:
        return NodeTerm((), (), broken=True)


def _field(expression: LabelRequirement) -> ParsedRequirement:
    if expression.operator not in ("In", "NotIn") or len(expression.values) != 1:
        raise SelectorError("a field takes In or NotIn with one value")
    return ParsedRequirement(expression.key, expression.operator, frozenset(expression.values))


@dataclass(frozen=True)
class RequiredNodeAffinity:
    """A pod's nodeSelector and its required node affinity, ANDed; None asks for nothing."""

    labels: Selector | None
    terms: NodeTerms | None

    def matches(self, labels: Labels, name: str) -> bool:
        """Whether the node is one the pod asks for."""
        if self.labels is not None and not self.labels.matches(labels):
            return False
        return self.terms is None or self.terms.matches(labels, name)


ANY_NODE = RequiredNodeAffinity(None, None)


def required_node_affinity(pod: Pod) -> RequiredNodeAffinity:
    """What the pod requires of its node."""
    stated, required = pod.spec.node_selector, pod.spec.affinity.node_affinity.required
    if not stated and required is None:
        return ANY_NODE
    terms = None if required is None else node_selector(required)
    return RequiredNodeAffinity(equal_labels(stated) if stated else None, terms)


def tolerates(toleration: Toleration, taint: Taint, *, comparison: bool = False) -> bool:
    """Whether the toleration covers the taint; Lt and Gt only with `comparison`, on plain decimal numbers."""
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    if toleration.operator in ("", "Equal"):
        return toleration.value == taint.value
    if toleration.operator == "Exists":
        return True
    if not comparison or toleration.operator not in ("Lt", "Gt"):
        return False
    ours, theirs = _plain_int64(toleration.value), _plain_int64(taint.value)
    if ours is None or theirs is None:
        return False
    return theirs < ours if toleration.operator == "Lt" else theirs > ours


def blocks(taints: Iterable[Taint], tolerations: Iterable[Toleration], *, comparison: bool = False) -> bool:
    """Whether some NoSchedule or NoExecute taint is not tolerated."""
    hard = [taint for taint in taints if taint.effect in ("NoSchedule", "NoExecute")]
    return any(not any(tolerates(t, taint, comparison=comparison) for t in tolerations) for taint in hard)


@dataclass(frozen=True)
class AffinityTerm:
    """A parsed pod (anti-)affinity term: pods of these namespaces, or of namespaces with these labels."""

    namespaces: frozenset[str]
    namespace_selector: Selector
    selector: Selector
    topology_key: str

    def matches(self, namespace: str, labels: Labels, namespace_labels: Labels) -> bool:
        """Whether a pod of that namespace with those labels is meant."""
        if namespace not in self.namespaces and not self.namespace_selector.matches(namespace_labels):
            return False
        return self.selector.matches(labels)

    def expanded(self, namespaces: Mapping[str, Labels], *, asks_again: bool = False) -> AffinityTerm:
        """The term with its namespace selector replaced by the existing namespaces it selects; an empty one stays.

        With `asks_again` (kube-scheduler up to 1.36) the selector is still asked afterwards, about no labels: one
        that is content with none, such as NotIn, then means every namespace.
        """
        if self.namespace_selector.is_empty:
            return self
        if asks_again and self.namespace_selector.matches({}):
            return AffinityTerm(self.namespaces, EVERYTHING, self.selector, self.topology_key)
        selected = (name for name, labels in namespaces.items() if self.namespace_selector.matches(labels))
        return AffinityTerm(self.namespaces | frozenset(selected), NOTHING, self.selector, self.topology_key)


def affinity_term(term: PodAffinityTerm, own_namespace: str) -> AffinityTerm:
    """Parse a term; without namespaces and namespace selector it means the pod's own namespace."""
    own = not term.namespaces and term.namespace_selector is None
    return AffinityTerm(
        frozenset((own_namespace,) if own else term.namespaces),
        label_selector(term.namespace_selector),
        label_selector(term.label_selector),
        term.topology_key,
    )


def _requirement(key: str, operator: str, values: tuple[str, ...], allowed: frozenset[str]) -> ParsedRequirement:
    if operator not in allowed:
        raise SelectorError(f'"{operator}" is not a valid label selector operator')
    if not _is_label_key(key):
        raise SelectorError(f'key: Invalid value: "{key}"')
    if operator in ("In", "NotIn") and not values:
        raise SelectorError("values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty")
    if operator in ("Exists", "DoesNotExist") and values:
        raise SelectorError("values: Invalid value: values set must be empty for exists and does not exist")
    if operator in ("Gt", "Lt") and (len(values) != 1 or _int64(values[0]) is None):
        raise SelectorError("values: Invalid value: for 'Gt', 'Lt' operators, exactly one integer is required")
    for index, value in enumerate(values):
        if len(value) > 63 or not _VALUE.fullmatch(value):
            raise SelectorError(f'values[{index}][{key}]: Invalid value: "{value}": {_BAD_VALUE}')
    return ParsedRequirement(key, operator, frozenset(values))


def _is_label_key(key: str) -> bool:
    prefix, slash, name = key.rpartition("/")
    if slash and not (len(prefix) <= 253 and _PREFIX.fullmatch(prefix)):
        return False
    return len(name) <= 63 and _NAME.fullmatch(name) is not None


def _int64(text: str | None) -> int | None:
    if text is None or not _INTEGER.fullmatch(text) or len(text) > 32:
        return None
    number = int(text)
    return number if number in _INT64 else None


def _plain_int64(text: str) -> int | None:
    return _int64(text) if _PLAIN_INTEGER.fullmatch(text) else None
