# SPDX-License-Identifier: MIT
"""A plotly figure as data, in the same lists as those of matplotlib (python_charts.py). `part` is defined by the driver."""
rich = part("rich")  # noqa: F821
charts = part("charts")  # noqa: F821


def of_plotly(figure):
    places = {}
    for trace in figure.data:
        place = (getattr(trace, "xaxis", None) or "x", getattr(trace, "yaxis", None) or "y")
        if trace.type == "pie":
            place = ("pie", len(places))
        places.setdefault(place, []).append(trace)
    found = [_chart(figure, place, traces) for place, traces in places.items()]
    if not found:
        return None
    title = _text(getattr(figure.layout.title, "text", None))
    if len(found) == 1:
        found[0]["title"] = title
        return found[0]
    return {"type": "superchart", "title": title, "elements": found}


def _text(value):
    return str(value) if value else None


def _list(values):
    return [] if values is None else [rich.scalar(value) for value in list(values)[:charts.ELEMENTS_MAX]]


def _kind(trace):
    if trace.type in ("scatter", "scattergl"):
        return "line" if "lines" in (trace.mode or "lines") else "scatter"
    return {"bar": "bar", "pie": "pie", "box": "box_and_whisker"}.get(trace.type, "unknown")


def _chart(figure, place, traces):
    kinds = {_kind(trace) for trace in traces}
    kind = kinds.pop() if len(kinds) == 1 else "line" if kinds == {"line", "scatter"} else "unknown"
    chart = {"type": kind, "title": None}
    if place[0] != "pie":
        for name, axis in zip("xy", place):
            layout = getattr(figure.layout, "%saxis%s" % (name, axis[1:]), None)
            label = _text(layout.title.text) if layout is not None else None
            chart[name + "_label"], chart[name + "_unit"] = label, charts.unit_of(label)
            if kind in ("line", "scatter"):
                chart[name + "_ticks"] = _list(layout.tickvals) if layout is not None else []
                chart[name + "_tick_labels"] = [str(text) for text in _list(layout.ticktext)] if layout is not None else []
                chart[name + "_scale"] = _scale(layout, [getattr(trace, name) for trace in traces])
    read = {"line": _points, "scatter": _points, "bar": _bars, "pie": _slices, "box_and_whisker": _boxes}.get(kind)
    chart["elements"] = read(traces) if read else []
    return chart


def _scale(layout, given):
    if layout is not None and layout.type:
        return {"category": "categorical", "date": "datetime"}.get(layout.type, str(layout.type))
    for values in given:
        for value in _list(values)[:1]:
            if isinstance(value, str):
                return "datetime" if len(value) >= 10 and value[4:5] == "-" and value[7:8] == "-" else "categorical"
    return "linear"


def _points(traces):
    return [{"label": _text(trace.name) or "Line %d" % number,
             "points": [list(pair) for pair in zip(_list(trace.x) or range(len(_list(trace.y))), _list(trace.y))]}
            for number, trace in enumerate(traces)]


def _bars(traces):
    elements = []
    for number, trace in enumerate(traces):
        labels, values = (trace.y, trace.x) if trace.orientation == "h" else (trace.x, trace.y)
        labels, values = _list(labels) or list(range(len(_list(values)))), _list(values)
        elements += [{"label": str(label), "group": _text(trace.name) or "Group %d" % number, "value": value}
                     for label, value in zip(labels, values)]
    return elements


def _slices(traces):
    values = [value if isinstance(value, (int, float)) else 0 for value in _list(traces[0].values)]
    labels = _list(traces[0].labels) or list(range(len(values)))
    whole = sum(values) or 1
    return [{"label": str(label), "angle": 360.0 * value / whole, "radius": 1.0} for label, value in zip(labels, values)]


def _boxes(traces):
    elements = []
    for number, trace in enumerate(traces):
        lying = trace.orientation == "h"
        values, groups = _list(trace.x if lying else trace.y), _list(trace.y if lying else trace.x)
        parts = {}
        for place, value in enumerate(values):
            if isinstance(value, (int, float)):
                parts.setdefault(str(groups[place]) if place < len(groups) else _text(trace.name) or "Box %d" % number,
                                 []).append(value)
        elements += [_box(label, sorted(part)) for label, part in parts.items()]
    return elements


def _quantile(values, share):
    """By linear interpolation between the two nearest values, as plotly's method "linear"."""
    at = min(max(share * len(values) - 0.5, 0), len(values) - 1)
    below = int(at)
    above = min(below + 1, len(values) - 1)
    return values[below] + (values[above] - values[below]) * (at - below)


def _box(label, values):
    first, middle, third = (_quantile(values, share) for share in (0.25, 0.5, 0.75))
    reach = 1.5 * (third - first)
    inside = [value for value in values if first - reach <= value <= third + reach] or values
    return {"label": label, "min": min(inside[0], first), "first_quartile": first, "median": middle, "third_quartile": third,
            "max": max(inside[-1], third), "outliers": [value for value in values if value < inside[0] or value > inside[-1]]}
