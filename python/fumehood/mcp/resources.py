# SPDX-License-Identifier: MIT
"""What a client may read without a tool: the operator's limits, and the files of sessions.

    fumehood://limits
    fumehood://session/ID/files/PATH      PATH relative to the session's folder, percent-encoded
"""
import base64
import json
from typing import Any, Dict, List
from urllib.parse import quote, unquote_to_bytes

from .. import errors
from .._library import utf8
from .sessions import Session, Sessions
from .tools import image_type, read_file, text_of

__all__ = ["TEMPLATES", "listing", "read"]

_LIMITS, _SESSION, _FILES = "fumehood://limits", "fumehood://session/", "/files/"
_LISTED_MAX = 500
_LIMITS_SHOWN = {"uri": _LIMITS, "name": "limits", "title": "Limits", "mimeType": "application/json",
                 "description": "What the operator of this server allows: times, sizes, packages."}
TEMPLATES = [{"uriTemplate": _SESSION + "{session}" + _FILES + "{+path}", "name": "session-file", "title": "A file of a session",
              "description": "A file by its path, relative to the session's folder."}]


def _files(session: Session) -> List[Dict[str, Any]]:
    found = []
    for info in session.sandbox.files.list(depth=0):
        if info.type == "regular" and not info.name.startswith("."):
            name = text_of(info.name)
            found.append({"uri": _SESSION + quote(session.id, safe="") + _FILES + quote(info.name.encode("utf-8", "surrogateescape")),
                          "name": name, "size": info.size})
    return found


def listing(sessions: Sessions) -> List[Dict[str, Any]]:
    """Lists the limits, and the first files of all sessions that this client may list."""
    found: List[Dict[str, Any]] = [_LIMITS_SHOWN]
    for session in sessions.all():
        try:
            found += _files(session)
        except errors.Error:
            continue  # closed meanwhile
    return found[:_LISTED_MAX]


def read(sessions: Sessions, uri: str) -> Dict[str, Any]:
    if uri == _LIMITS:
        return {"uri": uri, "mimeType": "application/json", "text": json.dumps(sessions.ceilings.as_dict())}
    id, between, path = uri[len(_SESSION):].partition(_FILES)
    name = unquote_to_bytes(utf8(path)).decode("utf-8", "surrogateescape")
    if not uri.startswith(_SESSION) or not between or not path or "\0" in name:
        raise errors.NotFoundError("there is no resource of this name", "", "not_found")
    with sessions.using(text_of(unquote_to_bytes(utf8(id)))) as session:
        data = read_file(session, name)
    kind = image_type(data)
    if kind is None:
        try:
            return {"uri": uri, "mimeType": "text/plain", "text": data.decode("utf-8")}
        except UnicodeDecodeError:
            pass
    return {"uri": uri, "mimeType": kind or "application/octet-stream", "blob": base64.b64encode(data).decode()}
