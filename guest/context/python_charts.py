# SPDX-License-Identifier: MIT
"""A matplotlib figure as data: the kind of chart and its elements (docs/contexts.md has the lists).

The data is read back from the axes' artists. `part` is defined by the driver (python.py)."""
import re

rich = part("rich")  # noqa: F821

#: Maximum of points, bars or boxes of one axes; further ones are left out, and the chart is marked `truncated`.
ELEMENTS_MAX = 20000
_UNIT = re.compile(r"[(\[]\s*([^()\[\]]+?)\s*[)\]]\s*$")
_CLOSE = 1e-9


def of_matplotlib(figure):
    """One chart, a superchart of several, or None for a figure without axes."""
    charts = [chart for chart in (_axes(axes) for axes in figure.axes) if chart is not None]
    if not charts:
        return None
    if len(charts) == 1:
        return charts[0]
    title = figure._suptitle.get_text() if getattr(figure, "_suptitle", None) is not None else None
    return {"type": "superchart", "title": title or None, "elements": charts}


def unit_of(label):
    """The unit in an axis label: m/s for "Speed (m/s)" and "Speed [m/s]"."""
    match = _UNIT.search(label or "")
    return match.group(1) if match else None


def _axes(axes):
    if axes.get_label() == "<colorbar>" or not axes.get_visible():
        return None
    for kind, read in (("pie", _pie), ("box_and_whisker", _boxes), ("bar", _bars), (None, _points)):
        found = read(axes)
        if found is None:
            continue
        chart = {"type": kind, "title": axes.get_title() or None}
        if kind != "pie":
            for name, label in (("x", axes.get_xlabel()), ("y", axes.get_ylabel())):
                chart[name + "_label"], chart[name + "_unit"] = label or None, unit_of(label)
        if isinstance(found, dict):
            chart.update(found)
        else:
            chart["elements"] = found
        if len(chart["elements"]) > ELEMENTS_MAX:
            chart["elements"], chart["truncated"] = chart["elements"][:ELEMENTS_MAX], True
        return chart
    return {"type": "unknown", "title": axes.get_title() or None, "elements": []}


# ---- axes: ticks and values

class _Axis:
    """The x or y axis of a chart, and the values that its numbers stand for."""

    def __init__(self, axes, name):
        self.axis = getattr(axes, name + "axis")
        get = getattr(self.axis, "get_converter", None)
        converter = type(get() if get else self.axis.converter).__name__
        self.scale = "categorical" if converter == "StrCategoryConverter" else \
            "datetime" if "Date" in converter else getattr(axes, "get_%sscale" % name)()
        self.categories = {}
        if self.scale == "categorical" and hasattr(self.axis.units, "_mapping"):
            self.categories = {place: text for text, place in self.axis.units._mapping.items()}

    def value(self, value):
        """The value that the code plotted, such as a date, from the number that the drawing has for it."""
        if isinstance(value, str):
            return value
        plain = rich.scalar(value)
        if isinstance(plain, (int, float)) and not isinstance(plain, bool):
            if self.scale == "datetime":
                from matplotlib.dates import num2date
                return num2date(plain).isoformat()
            if self.scale == "categorical":
                return self.categories.get(plain, plain)
            return float(plain)
        return plain

    def ticks(self):
        places = [float(place) for place in self.axis.get_ticklocs()]
        if self.scale == "datetime":
            return [self.value(place) for place in places]
        return places

    def labels(self):
        return [text.get_text() for text in self.axis.get_ticklabels()]

    def named(self, place, width):
        """The label of the tick that belongs to a bar at `place`; the number if there is none."""
        labels, best = self.labels(), None
        for tick, label in zip(self.axis.get_ticklocs(), labels):
            away = abs(float(tick) - place)
            if label and away <= max(width, 0.5) and (best is None or away < best[0]):
                best = (away, label)
        fixed = self.scale == "categorical" or type(self.axis.get_major_formatter()).__name__ == "FixedFormatter" \
            or type(self.axis.get_major_locator()).__name__ == "FixedLocator"
        if best is not None and (fixed or best[0] < _CLOSE):
            return best[1]
        value = self.value(place)
        return "%g" % value if isinstance(value, float) else str(value)


def _in_data(artist, axes):
    """Whether the artist is data, and not a line across the whole axes, as drawn by axhline."""
    return artist.get_transform().contains_branch(axes.transData) and not _is_blended(artist)


def _is_blended(artist):
    transform = artist.get_transform()
    x, y = transform.contains_branch_seperately(artist.axes.transData)
    return not (x and y)


# ---- kinds

def _pie(axes):
    from matplotlib.patches import Wedge
    wedges = [patch for patch in axes.patches if isinstance(patch, Wedge)]
    if not wedges:
        return None
    # matplotlib keeps angles in 32 bits; what lies beyond them is no part of the value that the code gave.
    return [{"label": _label(wedge, ""), "angle": round(abs(float(wedge.theta2) - float(wedge.theta1)), 4),
             "radius": float(wedge.r)} for wedge in wedges]


def _label(artist, otherwise):
    label = str(artist.get_label() or "")
    return otherwise if label.startswith("_") or not label else label


def _bars(axes):
    from matplotlib.container import BarContainer
    groups = [container for container in axes.containers if isinstance(container, BarContainer)]
    groups = [group for group in groups if len(group.patches)]
    if not groups:
        return None
    elements = []
    for number, group in enumerate(groups):
        horizontal = getattr(group, "orientation", "vertical") == "horizontal"
        axis = _Axis(axes, "y" if horizontal else "x")
        name = _label(group, "Group %d" % number)
        for bar in group.patches[:ELEMENTS_MAX + 1]:
            place, width = (bar.get_y(), bar.get_height()) if horizontal else (bar.get_x(), bar.get_width())
            value = bar.get_width() if horizontal else bar.get_height()
            elements.append({"label": axis.named(float(place + width / 2), abs(float(width)) / 2), "group": name,
                             "value": rich.scalar(float(value))})
    return elements


def _points(axes):
    from matplotlib.collections import PathCollection
    x, y = _Axis(axes, "x"), _Axis(axes, "y")
    elements = []
    lines = [line for line in axes.lines if _in_data(line, axes) and len(line.get_xdata())]
    clouds = [cloud for cloud in axes.collections if isinstance(cloud, PathCollection) and len(cloud.get_offsets())]
    # Axes where nothing was drawn are a line chart without lines, as E2B's are: those of a plot() that raised have scales.
    if not lines and not clouds and any((axes.lines, axes.patches, axes.collections, axes.images, axes.artists, axes.tables)):
        return None
    left = ELEMENTS_MAX
    for number, line in enumerate(lines):
        pairs = list(zip(list(line.get_xdata(orig=True))[:left], list(line.get_ydata(orig=True))[:left]))
        left -= len(pairs)
        elements.append({"label": _label(line, "Line %d" % number),
                         "points": [[x.value(a), y.value(b)] for a, b in pairs]})
    for number, cloud in enumerate(clouds):
        pairs = cloud.get_offsets()[:left].tolist()
        left -= len(pairs)
        elements.append({"label": _label(cloud, "Scatter %d" % number),
                         "points": [[x.value(a), y.value(b)] for a, b in pairs]})
    only_markers = (lines or clouds) and all(line.get_linestyle() in ("None", "", " ", None) for line in lines)
    found = {"type": "scatter" if only_markers else "line", "elements": elements}
    if left <= 0:
        found["truncated"] = True
    for name, axis in (("x", x), ("y", y)):
        found.update({name + "_ticks": axis.ticks(), name + "_tick_labels": axis.labels(), name + "_scale": axis.scale})
    return found


# ---- boxes: a box plot consists of ordinary lines and patches, and is recognized by their relative positions

class _Box:
    def __init__(self, points, patch):
        xs, ys = [float(x) for x, _ in points], [float(y) for _, y in points]
        self.x, self.y = (min(xs), max(xs)), (min(ys), max(ys))
        self.patch = patch


def _same(a, b):
    return abs(a - b) <= 1e-6 * max(1.0, abs(a), abs(b))


def _boxes(axes):
    from matplotlib.patches import PathPatch
    found = []
    shapes = [(line.get_xydata(), line) for line in axes.lines if len(line.get_xdata()) in (5, 11)]
    shapes += [(patch.get_path().vertices, patch) for patch in axes.patches
               if isinstance(patch, PathPatch) and len(patch.get_path().vertices) in (5, 6, 11, 12)]
    shapes = [(points, artist) for points, artist in shapes if _same(points[0][0], points[4 if len(points) < 7 else 10][0])]
    lines = [line for line in axes.lines if len(line.get_xdata()) == 2]
    drawn = []
    for points, artist in shapes:
        box = _Box(points[:11], artist)
        if (box.x, box.y) in drawn:  # the same plot once more, over the first, as to fill its boxes with colours
            continue
        drawn.append((box.x, box.y))
        for vertical in (True, False):
            element = _box(axes, box, lines, vertical)
            if element is not None:
                found.append(element)
                break
    return found if found and len(found) == len(drawn) else None


def _box(axes, box, lines, vertical):
    """The box with its whiskers and median, if it is one with this orientation."""
    across, along = (box.x, box.y) if vertical else (box.y, box.x)
    middle = (across[0] + across[1]) / 2
    low = high = median = None
    widest = 0.0  # for a whisker of length 0 the cap is on the box's edge; the median is wider
    for line in lines:
        (x0, y0), (x1, y1) = line.get_xydata()
        a, b = ((x0, y0), (x1, y1)) if vertical else ((y0, x0), (y1, x1))
        if _same(a[0], b[0]) and _same(a[0], middle):  # a whisker: from the box outward
            if _same(a[1], along[0]) and b[1] <= along[0] + _CLOSE:
                low = float(b[1])
            if _same(a[1], along[1]) and b[1] >= along[1] - _CLOSE:
                high = float(b[1])
        elif _same(a[1], b[1]) and _same((a[0] + b[0]) / 2, middle) and along[0] - _CLOSE <= a[1] <= along[1] + _CLOSE:
            if abs(a[0] - b[0]) > widest:
                widest, median = abs(a[0] - b[0]), float(a[1])
    if low is None or high is None or median is None:
        return None
    outliers, seen = [], []
    for line in axes.lines:
        points = line.get_xydata().tolist()
        if line.get_linestyle() in ("None", "", " ", None) and points not in seen:  # not those of the same plot once more
            seen.append(points)
            for point in points:
                place, value = (point[0], point[1]) if vertical else (point[1], point[0])
                if _same(place, middle):
                    outliers.append(float(value))
    name = _Axis(axes, "x" if vertical else "y").named(middle, abs(across[1] - across[0]) / 2)
    return {"label": name, "min": low, "first_quartile": along[0], "median": median, "third_quartile": along[1],
            "max": high, "outliers": outliers}
