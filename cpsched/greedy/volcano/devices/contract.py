"""What a kind of cards offers, and the books of all nodes."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import NamedTuple, Protocol

from cpsched.greedy.volcano.status import Status
from cpsched.greedy.volcano.tasks import TaskState
from cpsched.instance import Node, Task


class CardState(NamedTuple):
    """All that those read of a card who do not ask for single ones."""

    sharers: int
    sharers_left: int
    memory: int
    memory_left: int
    cores: int
    """Taken."""
    type: str = ""


class PlainWish(NamedTuple):
    """What a task asks for that takes any cards: so many, of each so much; no memory is the whole card's."""

    number: int
    memory: int
    cores: int
    types: tuple[tuple[str, str], ...] = ()
    """Annotations about types of cards."""


class Cards(Protocol):
    """The cards of one node."""

    def states(self, gone: Iterable[Task] = ()) -> list[CardState]:
        """The cards in order, as they are or once some that run have left them."""

    def lacks(self, task: Task) -> bool:
        """Whether the task finds no card here."""

    def score(self) -> float:
        """How good the cards are that the last task found that found any."""

    def book(self, task: Task) -> bool:
        """Give the task its cards; False if there are none."""

    def release(self, task: Task) -> None:
        """A task that was placed in this session goes again."""

    def enter(self, task: Task) -> None:
        """A task takes the cards that its annotations name."""

    def leave(self, task: Task) -> None:
        """It gives them back."""

    def linger(self, task: Task) -> None:
        """A task is terminating when the session opens: it holds no card any more."""

    def copied(self) -> Cards:
        """The cards as they are, to try something on; whichever come first are tried first."""


class CardKind(Protocol):
    """One way of sharing cards."""

    def asks(self, task: Task) -> bool:
        """Whether the task wants such cards."""

    def refusal(self, node: str) -> str:
        """The reason for a node without cards for a task."""

    def look(self, task: Task) -> Hashable:
        """All that the cards of a node read of a task that wants some: tasks with the same look get the same answer."""

    def plain_wish(self, task: Task) -> PlainWish | None:
        """The wish of a task, if counting cards that suit it says whether it finds them."""

    def accepts(self, wish: PlainWish, type_: str) -> bool:
        """Whether cards of the type suit the wish."""

    def cards(self, node: Node) -> Cards | None:
        """The cards of a node; None if it has none of this kind."""


class Books:
    """Who has which card, on all nodes."""

    def __init__(self, kind: CardKind, nodes: Mapping[str, Node]):
        self.kind = kind
        self._cards = {name: cards for name, node in nodes.items() if (cards := kind.cards(node)) is not None}
        self._looks: dict[str, Hashable] = {}

    def of(self, task: Task, node: str) -> Cards | None:
        """The cards of a node, where they are of concern to the task."""
        return self._cards.get(node) if self.look(task) is not None else None

    def states(self, node: str, gone: Iterable[Task] = ()) -> list[CardState]:
        """The cards of a node that has such, as they are or once some have gone."""
        return self._cards[node].states(gone)

    def __contains__(self, node: str) -> bool:
        return node in self._cards

    def lacking(self, task: Task, node: str) -> bool:
        """Whether the task wants cards and finds none on the node."""
        cards = self.of(task, node)
        return cards is not None and cards.lacks(task)

    def look(self, task: Task) -> Hashable:
        """What is read of the task, None if it wants no such cards."""
        if task.key not in self._looks:
            self._looks[task.key] = self.kind.look(task) if self.kind.asks(task) else None
        return self._looks[task.key]

    def book(self, task: TaskState) -> bool:
        """A task is placed; one that is put back where it ran takes what it had, which is not decided here."""
        cards = None if task.status is Status.RUNNING else self.of(task.task, task.node)
        return cards is None or cards.book(task.task)

    def release(self, task: TaskState) -> None:
        """A task that was placed goes again; one that is evicted is not seen here."""
        cards = None if task.status is Status.RELEASING else self.of(task.task, task.node)
        if cards is not None:
            cards.release(task.task)

    def moved(self, task: TaskState) -> None:
        """A running task is evicted or put back: its annotations say which cards that is about."""
        cards = self._cards.get(task.node)
        if cards is not None and task.status is Status.RELEASING:
            cards.leave(task.task)
        elif cards is not None and task.status is Status.RUNNING:
            cards.enter(task.task)

    def open(self, task: Task, *, releasing: bool) -> None:
        """A task is on its node when the session opens; one that is terminating holds no card any more."""
        cards = self._cards.get(task.node)
        if cards is not None and releasing:
            cards.linger(task)
        elif cards is not None:
            cards.enter(task)
