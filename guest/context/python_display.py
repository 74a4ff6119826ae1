# SPDX-License-Identifier: MIT
"""display() and rich values where IPython is not installed, and as much of `IPython.display` as notebooks use.

`part` is defined by the driver (python.py)."""
import binascii
import os
import sys

rich = part("rich")  # noqa: F821
pretty = part("pretty")  # noqa: F821
shell = part("shell")  # noqa: F821

_METHODS = {"text/html": "_repr_html_", "text/markdown": "_repr_markdown_", "image/svg+xml": "_repr_svg_",
            "image/png": "_repr_png_", "application/pdf": "_repr_pdf_", "image/jpeg": "_repr_jpeg_",
            "text/latex": "_repr_latex_", "application/json": "_repr_json_",
            "application/javascript": "_repr_javascript_"}


#: Forms that are text; those of pictures are bytes, or text in base64.
_TEXTS = ("text/html", "text/markdown", "image/svg+xml", "text/latex", "application/javascript")


def _method(value, name):
    """The value's own method of that name; None for what has every name one asks for, as mocks and proxies do, or fails to answer."""
    try:
        if getattr(value, "_ipython_canary_method_should_not_exist_", None) is not None:
            return None
        method = getattr(value, name, None)
    except Exception:
        return None
    return method if callable(method) else None


def bundle(value):
    """(data, metadata) by MIME type, from the value's own methods, called as Jupyter does."""
    data, metadata = {}, {}
    if isinstance(value, type):
        return {"text/plain": pretty.text(value)}, metadata
    own = _method(value, "_ipython_display_")
    if own is not None and type(value).__module__.partition(".")[0] != "plotly":
        try:
            own()
            return {}, {}
        except NotImplementedError:
            pass
    whole = _call(value, "_repr_mimebundle_", include=None, exclude=None)
    if whole is not None:
        if isinstance(whole, tuple):
            whole, metadata = whole[0], dict(whole[1])
        data.update(whole)
    data.setdefault("text/plain", pretty.text(value))
    for mime, name in _METHODS.items():
        if mime in data:
            continue
        item = _call(value, name)
        if isinstance(item, tuple) and len(item) == 2:
            item, metadata[mime] = item
        if item is not None and mime in _TEXTS and not isinstance(item, str):
            sys.stderr.write("%s of %s gave %s, not text: left out\n" % (name, type(value).__name__, type(item).__name__))
        elif item is not None:
            data[mime] = item
    _extra(value, data)
    return data, metadata


def _call(value, name, **arguments):
    method = _method(value, name)
    if method is None:
        return None
    try:
        return method(**arguments)
    except NotImplementedError:
        return None
    except Exception:
        import traceback
        traceback.print_exc()
        return None


def _from_json(text):
    import json
    return json.loads(text)


def _extra(value, data):
    kinds = {base.__module__ + "." + base.__name__ for base in type(value).__mro__}
    if "matplotlib.figure.Figure" in kinds and "image/png" not in data:
        image = part("inline").png_of(value)  # noqa: F821
        if image is not None:
            data["image/png"] = image
    if "plotly.basedatatypes.BaseFigure" in kinds:
        data["application/vnd.plotly.v1+json"] = _from_json(value.to_json())
    for mime, function in rich.EXTRA.items():
        try:
            item = function(value)
        except Exception:
            item = None
        if item is not None:
            data.setdefault(mime, item)


# ---- IPython.display, in short

_last_id = [0]


class DisplayHandle:
    def __init__(self, display_id=None):
        if display_id is None:
            _last_id[0] += 1
            display_id = "display-%d" % _last_id[0]
        self.display_id = display_id

    def __repr__(self):
        return "<DisplayHandle display_id=%s>" % self.display_id

    def display(self, value, **more):
        display(value, display_id=self.display_id, **more)

    def update(self, value, **more):
        update_display(value, display_id=self.display_id, **more)


def display(*values, include=None, exclude=None, metadata=None, transient=None, display_id=None, raw=False, clear=False,
            update=False, **_more):
    if clear:
        clear_output(wait=True)
    handle = None
    if display_id is not None:
        handle = DisplayHandle(None if display_id is True else display_id)
    for value in values:
        data, own = (value, {}) if raw else bundle(value)
        own = dict(own, **(metadata or {}))
        if include:
            data = {mime: item for mime, item in data.items() if mime in include}
        if exclude:
            data = {mime: item for mime, item in data.items() if mime not in exclude}
        if data:
            shell.publish(data, own, handle.display_id if handle else None, update)
    return handle


def update_display(value, *, display_id, **more):
    display(value, display_id=display_id, update=True, **more)


def clear_output(wait=False):
    shell.clear(wait)


class DisplayObject:
    """Data of one MIME type; read from a file if `filename` is given."""
    mime = "text/plain"

    def __init__(self, data=None, url=None, filename=None, metadata=None):
        if filename is None and data is not None and url is None and isinstance(data, (str, os.PathLike)) \
                and self._is_file(data):
            filename, data = data, None
        if url is not None:
            raise ValueError("a URL cannot be fetched here: give the data itself")
        if filename is not None:
            with open(filename, "rb") as file:
                data = file.read()
        self.data, self.metadata, self.filename = self._decoded(data), metadata, filename

    def _is_file(self, data):
        return isinstance(data, os.PathLike)

    def _decoded(self, data):
        return data.decode("utf-8", "replace") if isinstance(data, bytes) else data

    def _repr_mimebundle_(self, include=None, exclude=None):
        data = {self.mime: self.data, "text/plain": repr(self)}
        return (data, {self.mime: self.metadata}) if self.metadata else data

    def __repr__(self):
        return "<IPython.core.display.%s object>" % type(self).__name__


def _kind(name, mime):
    return type(name, (DisplayObject,), {"mime": mime})


HTML = _kind("HTML", "text/html")
Markdown = _kind("Markdown", "text/markdown")
Latex = _kind("Latex", "text/latex")
Javascript = _kind("Javascript", "application/javascript")


class Pretty(DisplayObject):
    def _repr_mimebundle_(self, include=None, exclude=None):
        return {"text/plain": self.data}


class Math(DisplayObject):
    mime = "text/latex"

    def _repr_mimebundle_(self, include=None, exclude=None):
        return {"text/latex": "$\\displaystyle %s$" % self.data.strip("$"), "text/plain": repr(self)}


class SVG(DisplayObject):
    mime = "image/svg+xml"

    def _is_file(self, data):
        return "<" not in str(data)


class JSON(DisplayObject):
    mime = "application/json"

    def __init__(self, data=None, url=None, filename=None, expanded=False, metadata=None, root="root", **more):
        super().__init__(None, url, filename, dict(metadata or {}, expanded=expanded, root=root, **more))
        if data is not None:
            self.data = _from_json(data) if isinstance(data, str) else data
        elif self.data:
            self.data = _from_json(self.data)

    def _repr_mimebundle_(self, include=None, exclude=None):
        return {self.mime: self.data, "text/plain": repr(self)}, {self.mime: self.metadata}


class Image(DisplayObject):
    _mimes = {"png": "image/png", "jpeg": "image/jpeg", "jpg": "image/jpeg", "gif": "image/gif", "webp": "image/webp"}

    def __init__(self, data=None, url=None, filename=None, format=None, embed=True, width=None, height=None, alt=None, **_more):
        self.url = url
        super().__init__(data, None, filename)
        name = format or os.path.splitext(str(self.filename or ""))[1].lstrip(".") or self._guess()
        self.mime = self._mimes.get(name.lower(), "image/png")
        self.size = {key: value for key, value in (("width", width), ("height", height), ("alt", alt)) if value}

    def _is_file(self, data):
        return True

    def _decoded(self, data):
        return data

    def _guess(self):
        return "jpeg" if (self.data or b"")[:2] == b"\xff\xd8" else "png"

    def _repr_mimebundle_(self, include=None, exclude=None):
        if self.url is not None:  # the viewer of the page fetches the picture
            size = "".join(' %s="%s"' % item for item in self.size.items())
            return {"text/html": '<img src="%s"%s/>' % (self.url, size), "text/plain": repr(self)}
        data = {self.mime: binascii.b2a_base64(self.data, newline=False).decode("ascii"), "text/plain": repr(self)}
        return (data, {self.mime: self.size}) if self.size else data


class IFrame(DisplayObject):
    """A page that is shown in a frame; the viewer fetches it."""
    _html = '<iframe width="%s" height="%s" src="%s" frameborder="0" allowfullscreen></iframe>'

    def __init__(self, src, width, height, **parameters):
        from urllib.parse import urlencode
        self.src, self.width, self.height = src + ("?" + urlencode(parameters) if parameters else ""), width, height

    def _repr_mimebundle_(self, include=None, exclude=None):
        return {"text/html": self._html % (self.width, self.height, self.src), "text/plain": repr(self)}


class YouTubeVideo(IFrame):
    def __init__(self, id, width=400, height=300, **parameters):
        super().__init__("https://www.youtube.com/embed/" + id, width, height, **parameters)


class Video(DisplayObject):
    def __init__(self, data=None, url=None, filename=None, **_more):
        self.src = url or filename or data

    def _repr_mimebundle_(self, include=None, exclude=None):
        return {"text/html": '<video src="%s" controls></video>' % self.src, "text/plain": repr(self)}


class Code(DisplayObject):
    """A program's text."""

    def __init__(self, data=None, url=None, filename=None, language=None):
        super().__init__(data, url, filename)

    def _repr_mimebundle_(self, include=None, exclude=None):
        import html
        return {"text/html": "<pre>%s</pre>" % html.escape(self.data), "text/plain": self.data}


def publish_display_data(data, metadata=None, *, transient=None, update=False, **_more):
    shell.publish(data, metadata or {}, (transient or {}).get("display_id"), update)


def _of_kind(mime):
    def show(*values, **more):
        for value in values:
            if more.get("raw"):
                shell.publish({mime: value}, more.get("metadata") or {}, None, False)
            else:
                display(value, include=("text/plain", mime), metadata=more.get("metadata"))
    return show


_NAMES = {"display": display, "update_display": update_display, "clear_output": clear_output,
          "publish_display_data": publish_display_data}
_NAMES.update(("display_" + name, _of_kind(mime)) for name, mime in (
    ("html", "text/html"), ("markdown", "text/markdown"), ("svg", "image/svg+xml"), ("png", "image/png"), ("jpeg", "image/jpeg"),
    ("latex", "text/latex"), ("json", "application/json"), ("javascript", "application/javascript"), ("pdf", "application/pdf"),
    ("pretty", "text/plain")))
_NAMES.update((kind.__name__, kind) for kind in (HTML, Markdown, Latex, Math, Javascript, Pretty, SVG, JSON, Image, IFrame, YouTubeVideo,
                                                 Video, Code, DisplayHandle, DisplayObject))


def _get_ipython():
    """The shell, for the cells themselves; None for a library, which would look for more of IPython's in it."""
    magic = sys._getframe(1).f_globals.get("__fumehood_magic__")
    return magic and magic("interactive")


class _Finder:
    """Provides `IPython.display` to a program that imports it."""

    @staticmethod
    def find_spec(name, _path=None, _target=None):
        if name not in ("IPython", "IPython.display"):
            return None
        from importlib.machinery import ModuleSpec
        return ModuleSpec(name, _Finder, is_package=name == "IPython")

    @staticmethod
    def create_module(spec):
        module = type(sys)(spec.name)
        module.get_ipython = _get_ipython
        if spec.name == "IPython":
            module.__version__, module.version_info = "0.0 (fumehood: IPython is not installed)", (0, 0, 0, "")
        module.__dict__.update(_NAMES)
        return module

    @staticmethod
    def exec_module(module):
        pass


def offer():
    sys.meta_path.insert(0, _Finder)
