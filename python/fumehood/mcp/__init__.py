# SPDX-License-Identifier: MIT
"""``fumehood mcp``: a server of the Model Context Protocol, by which an agent runs code in sandboxes of this machine.

A server of our own in the standard library, so that what installs fumehood installs it. Layers, each above the next:

    stdio.py, http.py   the two transports: bytes to messages and back, who is asking, when a client is gone
    protocol.py         JSON-RPC and the protocol's versions: which method, which answer, cancel, progress
    tools.py            the tools: what each takes, what it does, what the model reads of it
    resources.py        files and limits, to be read
    sessions.py         sandboxes that live on, and the operator's ceilings
    turns.py            how many calls run at once

The operator's options come from the command (src/cli/mcp.c) as one JSON object; see :func:`main`.
"""
import json
import sys
from typing import List, Optional

from .. import errors

__all__ = ["main"]


def main(arguments: Optional[List[str]] = None) -> int:
    """Serves until the client disconnects (stdio) or the server is stopped. The first argument is the JSON of the
    options."""
    from .sessions import Ceilings
    given = json.loads((sys.argv[1:] if arguments is None else arguments)[0])
    http = given.pop("http", None)
    try:
        ceilings = Ceilings(**given)
        if http is None:
            from .stdio import serve
            return serve(ceilings)
        from .http import serve_http
        return serve_http(ceilings, **http)
    except (errors.Error, OSError) as error:
        sys.stderr.write("fumehood: %s\n" % getattr(error, "message", error))
        if getattr(error, "hint", ""):
            sys.stderr.write("hint: %s\n" % error.hint)  # type: ignore[union-attr]
        return 1
