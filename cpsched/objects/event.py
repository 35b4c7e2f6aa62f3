"""Event: what a scheduler has stated of a pod; of all reasons only FailedScheduling is read."""

from __future__ import annotations

from cpsched.objects.base import Object, Shape, Time

FAILED = "FailedScheduling"


class ObjectReference(Shape):
    """What an event is about."""

    kind: str = ""
    namespace: str = ""
    name: str = ""
    uid: str = ""


class Event(Object):
    """An Event of either API group: events.k8s.io calls the object `regarding` and the text `note`."""

    reason: str = ""
    involved_object: ObjectReference = ObjectReference()
    regarding: ObjectReference = ObjectReference()
    message: str = ""
    note: str = ""
    last_timestamp: Time | None = None
    event_time: Time | None = None

    @property
    def about(self) -> ObjectReference:
        """The object."""
        return self.involved_object if self.involved_object.name else self.regarding

    @property
    def text(self) -> str:
        """The message."""
        return self.message or self.note

    @property
    def moment(self) -> int:
        """When it was last reported."""
        stated = (self.last_timestamp, self.event_time, self.metadata.creation_timestamp)
        return max((one for one in stated if one is not None), default=0)
