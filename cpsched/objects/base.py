"""What all Kubernetes shapes share: frozen, strict about types, `null` means absent, unknown fields are left aside."""

from __future__ import annotations

from typing import Annotated, Any, Self, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PlainSerializer, Strict, WithJsonSchema
from pydantic.alias_generators import to_camel

from cpsched import quantity, timestamps
from cpsched.complaints import named

INT32_MAX = 2**31 - 1


def _quantity(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError(f"a quantity is a number or a text such as 500m or 4Gi, not {named(value)}")
    if quantity.nano(value) < 0:
        raise ValueError(f"{value} is negative; a quantity here is zero or more")
    return str(value)


def _version(value: object) -> str:
    return value if isinstance(value, str) else ""


def _time(value: object) -> int:
    return timestamps.parse(value)


Item = TypeVar("Item")
Items = Annotated[tuple[Item, ...], Strict(False)]
Quantity = Annotated[
    str, BeforeValidator(_quantity), WithJsonSchema({"type": ["string", "number"], "title": "Quantity"})
]
Quantities = dict[str, Quantity]
Time = Annotated[
    int,
    BeforeValidator(_time),
    PlainSerializer(timestamps.text, return_type=str),
    WithJsonSchema({"type": "string", "format": "date-time"}),
]


class Shape(BaseModel):
    """A part of a Kubernetes object; attribute names are snake_case, JSON names camelCase."""

    model_config = ConfigDict(
        frozen=True,
        strict=True,
        extra="ignore",
        alias_generator=to_camel,
        populate_by_name=False,
        serialize_by_alias=True,
    )

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Self:
        """Itself: it is frozen, and pydantic copies a default deeply for every object that is read."""
        return self


class Metadata(Shape):
    """ObjectMeta, as far as scheduling looks at it."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    # Every object has its own, and pydantic makes an empty one faster than it copies one.
    labels: dict[str, str] = Field(default_factory=dict)
    annotations: dict[str, str] = Field(default_factory=dict)
    creation_timestamp: Time | None = None
    deletion_timestamp: Time | None = None
    resource_version: Annotated[str, BeforeValidator(_version), WithJsonSchema({"type": "string"})] = ""
    owner_references: Items[OwnerReference] = ()

    @property
    def key(self) -> str:
        """namespace/name, or the bare name of a cluster-wide object."""
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


class OwnerReference(Shape):
    """Who created the object; only the controller matters."""

    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool = False


class Condition(Shape):
    """One status condition."""

    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""


class LabelSelector(Shape):
    """matchLabels and matchExpressions, ANDed; None selects nothing, an empty one mostly everything."""

    match_labels: dict[str, str] = {}
    match_expressions: Items[LabelRequirement] = ()


class LabelRequirement(Shape):
    """One expression over labels."""

    key: str = ""
    operator: str = ""
    values: Items[str] = ()


class Object(Shape):
    """A whole API object."""

    metadata: Metadata = Metadata()

    @property
    def key(self) -> str:
        """namespace/name of the object."""
        return self.metadata.key


Metadata.model_rebuild()
LabelSelector.model_rebuild()
