"""Rows and tables of whatever library, for the native part."""

from __future__ import annotations

import importlib
import json
import os
from collections.abc import Mapping, Sequence
from datetime import timezone
from difflib import get_close_matches
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def paths(value: Any) -> list[str | os.PathLike[str]] | None:
    """The files that are named, unless it is data."""
    if isinstance(value, (str, os.PathLike)):
        return [value]
    if isinstance(value, (list, tuple)) and value and all(isinstance(v, (str, os.PathLike)) for v in value):
        return list(value)
    return None


def is_table(value: Any) -> bool:
    """Whether it has columns with names; a single column has a type instead."""
    speaks = hasattr(value, "__arrow_c_stream__") or hasattr(value, "__arrow_c_array__") or hasattr(value, "columns")
    return speaks and not hasattr(value, "dtype")


def column_names(table: Any) -> list[str]:
    """Names of a table's columns."""
    names = getattr(table, "column_names", None)
    if names is None:
        names = getattr(table, "columns", None)
    if names is None:
        names = table.schema.names
    return [str(name) for name in names]


def arrow(table: Any) -> Any:
    """A dictionary of columns, or something that speaks Arrow; a data frame of pandas does so only beside pyarrow."""
    if isinstance(table, Mapping):
        return dict(table)
    try:
        import pyarrow  # type: ignore[import-untyped, unused-ignore]
    except ImportError:
        pyarrow = None
    if type(table).__module__.split(".")[0] == "pandas" and pyarrow is None:
        raise TypeError(
            "data frames of pandas need pyarrow here; without it, give arrays: "
            "summarize(frame[features].to_numpy(), frame[reward].to_numpy(), names=features)"
        )
    return table


def fields(value: Any, what: str) -> dict[str, Any]:
    """A row as a dictionary: a mapping, a row of pandas, a frame of one row, JSON text."""
    if isinstance(value, str):
        value = _read(value, what)
    if isinstance(value, Mapping):
        return dict(value)
    if hasattr(value, "_asdict"):
        return dict(value._asdict())
    if is_table(value):
        rows = records(value)
        if len(rows) != 1:
            raise TypeError(f"{what} must be one row, but the table has {len(rows)}")
        return dict(rows[0])
    if hasattr(value, "to_dict"):
        return dict(value.to_dict())
    raise TypeError(f"{what} must be a dictionary, a row of a data frame or JSON text, but is {value!r:.60}")


def is_missing(value: Any) -> bool:
    """Whether nothing is there, by any library's word for it."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, (float, np.floating, np.datetime64)) and bool(value != value)


def plain(value: Any) -> Any:
    """What another library made, as Python has it: scalars, arrays and rows; dates and times as the text that files have for them.
    Anything else is given back as it is."""
    if isinstance(value, (np.integer, np.bool_)):
        return value.tolist()
    if is_missing(value):
        return None
    if isinstance(value, (np.datetime64, np.ndarray)) and value.dtype.kind == "M":
        # Python has neither nanoseconds nor months.
        moments: Any = value
        is_coarse = np.datetime_data(moments.dtype)[0] in ("Y", "M", "W", "D", "h", "m")
        found = np.datetime_as_string(moments.astype("M8[s]") if is_coarse else moments).tolist()
        return [_moment(text) for text in found] if isinstance(found, list) else _moment(found)
    if hasattr(value, "isoformat"):
        if getattr(value, "tzinfo", None) is None or not hasattr(value, "astimezone"):
            return _moment(value.isoformat())
        return _moment(value.astimezone(timezone.utc).replace(tzinfo=None).isoformat(), "Z")
    for way in ("tolist", "to_dict", "__float__"):
        if hasattr(value, way):
            found = getattr(value, way)()
            if type(found) is not type(value):
                return found
    return value


def _moment(text: str, zone: str = "") -> str | None:
    """A date, a time or a moment as text, as `columnar.rs` writes those of files: without zeros at the end of a fraction, and
    at midnight the date alone."""
    if text == "NaT":
        return None
    short = text.rstrip("0").rstrip(".") if text.partition(".")[2].isdigit() else text
    date = short.removesuffix("T00:00:00")
    return short + zone if date == short and "T" in short else date


def texts(values: Any) -> list[Any]:
    """A column of dates or times as texts."""
    return [value if isinstance(value, str) else plain(value) for value in values]


def name(value: Any) -> str:
    """An id as text."""
    return str(value if isinstance(value, int) else plain(value))


def records(value: Any) -> list[Any]:
    """Actions as a list: of a frame each row, of JSON text each element."""
    if isinstance(value, str):
        value = _read(value, "`actions`")
    if isinstance(value, Mapping) or not (is_table(value) or isinstance(value, Sequence)):
        raise TypeError(f"`actions` must be a list, a data frame or JSON text, but are {value!r:.60}")
    if hasattr(value, "to_dicts"):
        return list(value.to_dicts())
    if hasattr(value, "to_pylist"):
        return list(value.to_pylist())
    if hasattr(value, "to_dict"):
        return list(value.to_dict("records"))
    return list(value)


def events(value: Any) -> tuple[str, Any]:
    """Files, a list of events, or a table that speaks Arrow, and which of them."""
    if isinstance(value, str) and value.lstrip().startswith(("{", "[")):
        value = _read(value, "events")
    named = paths(value)
    if named is not None:
        return "files", named
    if isinstance(value, Mapping) and ("actions" in value or "decision_id" in value):
        return "events", [dict(value)]
    if is_table(value) or isinstance(value, Mapping):
        return "table", arrow(value)
    if isinstance(value, Sequence):
        return "events", [fields(event, "an event") for event in value]
    raise TypeError(f"events are a file, a table, or a list of dictionaries, but this is {value!r:.60}")


def matched(value: Any, names: list[str]) -> Any:
    """The columns of a frame, or the values of a row, in the order of these names; anything else is given back as it is."""
    if is_table(value):
        known = column_names(value)
        columns = [_column(value, known, name) for name in names]
        if "intercept" in names[:1] and columns[0] is None:
            columns[0] = np.ones(len(value))
        _check(names, columns, known)
        return np.column_stack([np.asarray(numbers(column), dtype=np.float64) for column in columns])
    if type(value).__module__.split(".")[0] == "pandas" and any(name in names for name in value.index):
        value = value.to_dict()
    if isinstance(value, Mapping):
        row = [value.get(name, 1.0 if name == "intercept" else None) for name in names]
        _check(names, row, [str(name) for name in value])
        return np.array(np.broadcast_arrays(*row), dtype=np.float64).T
    return value


def numbers(value: Any) -> Any:
    """The numbers of an array, a column or a table, with NaN where a library masks them or has nothing."""
    if is_table(value) and hasattr(value, "columns"):
        whole = np.asarray(value) if hasattr(value, "__array__") else None
        if whole is not None and whole.dtype != object:
            return whole
        names = column_names(value)
        columns = [numbers(_column(value, names, name)) for name in names]
        for name, column in zip(names, columns):
            if column.dtype.kind not in "biuf":
                raise TypeError(f"column {name!r} must hold real numbers, but its dtype is {column.dtype}")
        return np.column_stack(columns)
    has_numbers = getattr(getattr(value, "dtype", None), "kind", "") in set("biuf")
    if has_numbers and hasattr(value, "filled"):
        return value.astype(np.float64).filled(np.nan)
    found = np.asarray(value)
    if has_numbers and found.dtype == object:
        return value.to_numpy(dtype=np.float64, na_value=np.nan)
    return found


def _column(table: Any, known: list[str], name: str) -> Any:
    if known.count(name) > 1:
        raise ValueError(f"there are two columns named {name!r}")
    if name not in known:
        return None
    if hasattr(table, "iloc"):
        return table.iloc[:, known.index(name)]
    return table[name] if hasattr(table, "columns") else table.column(name)


def _check(names: list[str], found: list[Any], known: list[str]) -> None:
    for name, value in zip(names, found):
        if value is None:
            near = get_close_matches(name, known, 1)
            hint = f"; did you mean {near[0]!r} to be it?" if near else ""
            raise ValueError(f"there is no column for the feature {name!r}{hint}")


def frame(names: list[str], rows: Floats, ids: list[str], like: Any) -> Any:
    """A data frame: of polars where `like` is one, else of pandas, else of polars, else a dictionary of columns."""
    first = type(like).__module__.split(".")[0]
    for library in ("polars", "pandas") if first == "polars" else ("pandas", "polars"):
        try:
            table: Any = importlib.import_module(library).DataFrame
        except ImportError:
            continue
        if library == "polars":
            return table(rows, schema=names, orient="row")
        # The rows of a table are its own.
        index = like.index if first == "pandas" and len(like) == len(rows) else ids
        return table(rows, columns=names, index=index)
    return {name: rows[:, place] for place, name in enumerate(names)}


def answer(value: Any) -> Any:
    """The answer of a query: a cursor's rows as a dictionary of columns; tables as they are."""
    if not (hasattr(value, "description") and hasattr(value, "fetchall")):
        return arrow(value)
    names = [column[0] for column in value.description]
    rows = value.fetchall()
    return {name: [row[place] for row in rows] for place, name in enumerate(names)}


def _read(text: str, what: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_object)
    except ValueError as error:
        raise ValueError(f"{what} must be JSON where it is text, but: {error}") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON, in which a key is there once, as for the command and the service."""
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"`{next(key for key in keys if keys.count(key) > 1)}` is there twice")
    return found
