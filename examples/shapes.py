"""A Pydantic model for `stencilm generate --pydantic examples.shapes:Drawing`."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class Strict(BaseModel):
    """What has no members but those it names."""

    model_config = ConfigDict(extra="forbid")


class Point(Strict):
    """A place on the paper."""

    x: int = Field(ge=0, le=100)
    y: int = Field(ge=0, le=100)


class Shape(Strict):
    """One thing that is drawn."""

    kind: Literal["circle", "square", "triangle"]
    center: Point
    size: int = Field(gt=0, le=50)


class Drawing(Strict):
    """What is on the paper."""

    title: str = Field(min_length=1, max_length=30)
    shapes: list[Shape] = Field(min_length=1, max_length=3)
