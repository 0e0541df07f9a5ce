"""Pages from templates (Jinja2), which lie in the folder ``templates`` of the room that owns them. What is put in is escaped."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jinja2 import Environment


def rendered(room: str, template: str, **values: Any) -> str:
    """The text of a room's template with these values; what a template calls ``safe`` must be safe already."""
    return _environment(room).get_template(template).render(**values)


def source(room: str, name: str) -> str:
    """A file of a room's templates as it is."""
    return files(f"urdf_gibbs.{room}").joinpath("templates", name).read_text(encoding="utf-8")


@cache
def _environment(room: str) -> Environment:
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    loader = FunctionLoader(lambda name: source(room, name))
    return Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True
    )
