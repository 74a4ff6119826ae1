# SPDX-License-Identifier: MIT
"""Rich results: bundles by MIME type as sent to the client, and the two kinds that are data: frames and charts.

`part` is defined by the driver (python.py)."""
import binascii
import sys

DATA = "application/vnd.fumehood.data+json"
CHART = "application/vnd.fumehood.chart+json"
JSON = "application/json"

#: Cells of a data frame, items of a list or dict (all levels together), beyond which they come as text only.
FRAME_MAX = 200000
ITEMS_MAX = 50000


def portable(data):
    """A bundle with bytes in base64, as in Jupyter's messages."""
    return {str(mime): _portable_item(item) for mime, item in data.items() if item is not None}


def _portable_item(item):
    if isinstance(item, (bytes, bytearray, memoryview)):
        return binascii.b2a_base64(bytes(item), newline=False).decode("ascii")
    if isinstance(item, (str, dict, list, int, float, bool)):
        return item
    return str(item)


def portable_metadata(metadata):
    return metadata if isinstance(metadata, dict) else {}


# ---- values as JSON

class _TooMuch(Exception):
    pass


def _is_time(value, *kinds):
    datetime = sys.modules.get("datetime")  # which values of its types have imported
    return datetime is not None and any(isinstance(value, getattr(datetime, kind)) for kind in kinds)


def scalar(value):
    """A number, text or time of Python, numpy or pandas as JSON; other values as their text."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value) if value == value and value not in (float("inf"), float("-inf")) else None
    if _is_time(value, "datetime", "date", "time"):
        text = value.isoformat()
        return None if text == "NaT" else text
    module = type(value).__module__.partition(".")[0]
    if module == "pandas" and type(value).__name__ in ("NAType", "NaTType"):
        return None
    if module == "numpy":
        name = type(value).__name__
        if name.startswith("datetime64"):
            return None if str(value) == "NaT" else str(value)
        if hasattr(value, "item"):
            plain = value.item()
            if type(plain).__module__.partition(".")[0] != "numpy":
                return scalar(plain)
    return str(value)


def _json(value, budget, depth):
    budget[0] -= 1
    if budget[0] < 0 or depth > 60:
        raise _TooMuch
    if isinstance(value, dict):
        if not all(isinstance(key, str) for key in value):
            raise TypeError("keys")
        return {key: _json(item, budget, depth + 1) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_json(item, budget, depth + 1) for item in value]
    if value is None or isinstance(value, (bool, int, float, str)):
        return scalar(value)
    if _is_time(value, "datetime", "date"):
        return scalar(value)
    if type(value).__module__.partition(".")[0] == "numpy":
        if type(value).__name__ == "ndarray":
            return _json(value.tolist(), budget, depth)
        return scalar(value)
    raise TypeError(type(value).__name__)


def json_of(value):
    """A list or dict as JSON; None if the value is neither, or too large."""
    if type(value) not in (list, dict):
        return None
    try:
        return _json(value, [ITEMS_MAX], 0)
    except (_TooMuch, TypeError, ValueError, RecursionError):
        return None


def frame_of(value):
    """A pandas data frame as {column: [values]}; times in ISO format."""
    pandas = sys.modules.get("pandas")
    if pandas is None or not isinstance(value, pandas.DataFrame) or value.size > FRAME_MAX:
        return None
    return {str(column): [scalar(item) for item in values]
            for column, values in value.to_dict(orient="list").items()}


def chart_of(value):
    """The chart's elements of a figure of matplotlib or plotly."""
    module = type(value).__module__.partition(".")[0]
    if module == "matplotlib" or any(base.__module__ == "matplotlib.figure" for base in type(value).__mro__):
        return part("charts").of_matplotlib(value)  # noqa: F821
    if module == "plotly":
        return part("charts_plotly").of_plotly(value)  # noqa: F821
    return None


EXTRA = {DATA: frame_of, CHART: chart_of, JSON: json_of}
