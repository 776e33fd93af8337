"""Results as JSON and back: each attribute under its name, rows as objects, arrays as lists.

JSON has no infinite numbers and no NaN: these are "Infinity", "-Infinity" and null. `at` is written
as "operating_point", and a mapping whose keys are no text as a list of pairs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from types import UnionType
from typing import TYPE_CHECKING, Any, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from fastfair._lib.arrays import AnyArray, Floats
from fastfair.error_rates.operating_points import OperatingPoint, read_point
from fastfair.uncertainty.notes import Code, Note, Noted

if TYPE_CHECKING:
    from cattrs import Converter

SCHEMA_VERSION = 1  # of JSON; grows where readers of earlier files would go wrong
_NAMES = {"at": "operating_point"}  # what files call fields
_OF_NOTES = "note", "flags"  # what files have besides the notes themselves


UNWRITTEN = {"written": False}
"""Metadata of fields that JSON does not have, such as replicates: what is read has their
default."""


def empty_floats() -> Floats:
    """Return the replicates of what was read: none."""
    return np.zeros(0)


def to_plain(value: Any) -> Any:
    """Turn a result, or a part of one, into what JSON can hold."""
    return converter().unstructure(value)


def from_plain(content: Any, kind: type[Any]) -> Any:
    """Make a result, or a part of one, of what `to_plain` returned."""
    return converter().structure(content, kind)


@cache
def converter() -> Converter:
    """Return what converts results; made when first used, as few processes write JSON."""
    from cattrs import Converter
    from cattrs.gen import make_dict_structure_fn, make_dict_unstructure_fn, override

    made = Converter(detailed_validation=False)

    def changes(kind: type[Any]) -> dict[str, Any]:
        get_type_hints(kind)  # refuses a class whose types are not known here
        return {
            field_of.name: override(
                rename=_NAMES.get(field_of.name, field_of.name),
                omit=not field_of.metadata.get("written", True),
            )
            for field_of in fields(kind)
        }

    def writing(kind: type[Any]) -> Callable[[Any], dict[str, Any]]:
        write = make_dict_unstructure_fn(kind, made, **changes(kind))
        if not issubclass(kind, Noted):
            return write
        return lambda row: write(row) | {name: getattr(row, name) for name in _OF_NOTES}

    made.register_unstructure_hook_factory(
        lambda kind: isinstance(kind, type) and is_dataclass(kind), writing
    )

    def reading(kind: type[Any]) -> Callable[[Any, Any], Any]:
        read = make_dict_structure_fn(kind, made, **changes(kind))
        completed = getattr(kind, "_as_read", None)  # of a class that has more to do
        if issubclass(kind, Noted):
            return lambda content, _: (completed or (lambda row: row))(
                read(_with_notes(content), kind)
            )
        return read if completed is None else lambda content, _: completed(read(content, kind))

    made.register_structure_hook_factory(
        lambda kind: isinstance(kind, type) and is_dataclass(kind), reading
    )
    made.register_unstructure_hook(Note, Note.to_plain)
    made.register_structure_hook(Note, lambda content, _: Note.from_plain(content))
    made.register_unstructure_hook(float, _number)
    made.register_structure_hook(
        float, lambda value, _: math.nan if value is None else float(value)
    )
    made.register_unstructure_hook_func(_is_array, lambda array: _numbers(array.tolist()))
    made.register_structure_hook_func(_is_array, _array)
    made.register_unstructure_hook(OperatingPoint, str)
    made.register_structure_hook(OperatingPoint, lambda text, _: read_point(text))
    made.register_unstructure_hook_func(
        _is_keyed_by_objects,
        lambda values: [[made.unstructure(key), made.unstructure(v)] for key, v in values.items()],
    )

    def mapping(pairs: Any, kind: Any) -> dict[Any, Any]:
        of_key, of_value = get_args(kind)
        return {
            made.structure(key, of_key): made.structure(value, of_value) for key, value in pairs
        }

    made.register_structure_hook_func(_is_keyed_by_objects, mapping)
    return made


def _with_notes(content: dict[str, Any]) -> dict[str, Any]:
    """Return a row with notes; files of earlier versions have their words alone."""
    if "notes" in content or not content.get("note"):
        return content
    written = Note.of(Code.AS_WRITTEN, text=content["note"], flags=content.get("flags", ""))
    return content | {"notes": [written.to_plain()]}


def _number(value: float) -> float | str | None:
    if math.isfinite(value):
        return float(value)
    return None if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _numbers(values: Any) -> Any:
    if isinstance(values, list):
        return [_numbers(value) for value in values]
    return _number(values) if isinstance(values, float) else values


def _is_array(kind: Any) -> bool:
    if get_origin(kind) is UnionType:
        return all(map(_is_array, get_args(kind)))
    # which it is depends on NumPy's version
    return kind is np.ndarray or get_origin(kind) in (
        np.ndarray,
        NDArray,
    )


def _array(values: Any, kind: Any) -> AnyArray:
    if get_origin(kind) is UnionType:
        return np.array(values)
    *_, entries = get_args(kind)
    return np.array(values, get_args(entries)[0] if get_origin(entries) is np.dtype else entries)


def _is_keyed_by_objects(kind: Any) -> bool:
    return get_origin(kind) in (dict, Mapping) and get_args(kind)[0] is not str


def schema_of(kind: type[Any], others: dict[str, Any]) -> dict[str, Any]:
    """Return the JSON schema of a class of results, which has other properties besides its
    fields.
    """
    parts: dict[str, Any] = {}
    _schema(kind, parts)
    schema = parts.pop(kind.__name__)
    schema = {
        "properties": others | schema["properties"],
        "required": [*others, *schema["required"]],
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        **schema,
        "$defs": parts,
    }


def schema_of_property(kind: type[Any], name: str) -> dict[str, Any]:
    """Return the schema of a property of a class, by what it returns."""
    asked = getattr(kind, name)
    return _schema(get_type_hints(getattr(asked, "fget", None) or asked.func)["return"], {})


def _schema(kind: Any, parts: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a type; those of dataclasses go into `parts`, by their names."""
    arguments, origin = get_args(kind), get_origin(kind)
    if _is_array(kind):
        return {"type": "array"}
    if kind is Note:
        values = {"type": "object", "additionalProperties": {"type": ["number", "string"]}}
        note = {"code": {"enum": list(Code)}, "about": {"type": "string"}, "values": values}
        return {
            "anyOf": [
                note["code"],
                {"type": "object", "properties": note, "required": ["code", "values"]},
            ]
        }
    if isinstance(kind, type) and is_dataclass(kind) and kind is not OperatingPoint:
        if kind.__name__ not in parts:
            parts[kind.__name__] = {}
            hints = get_type_hints(kind)
            written = [
                field_of for field_of in fields(kind) if field_of.metadata.get("written", True)
            ]
            properties = {
                _NAMES.get(field_of.name, field_of.name): _schema(hints[field_of.name], parts)
                for field_of in written
            }
            if issubclass(kind, Noted):
                properties |= {name: {"type": "string"} for name in _OF_NOTES}
            parts[kind.__name__] = {
                "type": "object",
                "properties": properties,
                "required": list(properties),
            }
        return {"$ref": f"#/$defs/{kind.__name__}"}
    if origin in (dict, Mapping) and arguments[0] is str:
        return {"type": "object", "additionalProperties": _schema(arguments[1], parts)}
    if origin in (tuple, list):
        return {"type": "array"} | (
            {"items": _schema(arguments[0], parts)} if arguments[1:] == (...,) else {}
        )
    if origin in (dict, Mapping):
        return {"type": "array"}  # of pairs
    if arguments:
        return {"anyOf": [_schema(argument, parts) for argument in arguments]}
    number = {"anyOf": [{"type": "number"}, {"enum": ["Infinity", "-Infinity", None]}]}
    plain: dict[Any, Any] = {
        float: number,
        type(None): {"type": "null"},
        OperatingPoint: {"type": "string"},
    }
    names = {int: "integer", bool: "boolean", str: "string"}
    return plain.get(kind) or ({"type": names[kind]} if kind in names else {})
