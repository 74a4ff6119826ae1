# SPDX-License-Identifier: MIT
"""The `code` and `sandbox` assertions of `fumehood eval` for promptfoo itself: ``type: python``, ``value: file://…/promptfoo.py``.

The fields stand in the assertion's ``config`` (docs/code-check.md), with ``type: sandbox`` for that one. In their strings
``{{name}}`` and ``{{name.member}}`` stand for the test's variables.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
from typing import Any, Dict, Mapping

try:
    from fumehood import errors
except ImportError:  # promptfoo loads this file by its path
    sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    from fumehood import errors
from fumehood._library import program

__all__ = ["get_assert"]

_VARIABLE = re.compile(r"\{\{\s*([A-Za-z_]\w*(?:\.\w+)*)\s*\}\}")
_TYPES = ("code", "sandbox")


def _value_of(name: str, variables: Mapping[str, Any]) -> Any:
    found: Any = variables
    for part in name.split("."):
        if not isinstance(found, Mapping) or part not in found:
            raise errors.ArgumentError("there is no variable {{%s}}" % name, "it is one of the test's vars", "argument")
        found = found[part]
    return found


def _text_of(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _literal(value: Any) -> Any:
    """The value as a template that renders as the value itself, whatever braces it contains."""
    if isinstance(value, str):
        return value.replace("{", '{{"{"}}')
    if isinstance(value, Mapping):
        return {key: _literal(item) for key, item in value.items()}
    return [_literal(item) for item in value] if isinstance(value, (list, tuple)) else value


def _filled(field: Any, variables: Mapping[str, Any]) -> Any:
    """A field with its variables filled in; a string that is one variable takes its value with its type."""
    if isinstance(field, Mapping):
        return {key: _filled(item, variables) for key, item in field.items()}
    if isinstance(field, (list, tuple)):
        return [_filled(item, variables) for item in field]
    if not isinstance(field, str):
        return field
    whole = _VARIABLE.fullmatch(field)
    if whole:
        return _value_of(whole.group(1), variables)
    return _VARIABLE.sub(lambda match: _text_of(_value_of(match.group(1), variables)), field)


def _config(output: Any, context: Mapping[str, Any]) -> Dict[str, Any]:
    fields = dict(context.get("config") or {})
    kind = fields.pop("type", "code")
    if kind not in _TYPES:
        raise errors.ArgumentError("config.type is %r" % (kind,), "it is code or sandbox", "argument")
    check = {"type": kind, "value": _literal(_filled(fields, context.get("vars") or {}))}
    return {"prompts": [{"raw": _literal(_text_of(output)), "label": "answer"}], "providers": ["echo"], "tests": [{"assert": [check]}]}


def get_assert(output: Any, context: Mapping[str, Any]) -> Dict[str, Any]:
    """What promptfoo calls: {pass, score, reason, metadata}. An exception: the config is wrong, or no verdict can be had here."""
    with tempfile.TemporaryDirectory(prefix="fumehood-") as folder:
        config, results = (os.path.join(folder, name) for name in ("config.json", "results.json"))
        with open(config, "w", encoding="utf-8") as file:
            json.dump(_config(output, context), file)
        done = subprocess.run([program(), "eval", "-c", config, "--no-write", "--no-cache", "--no-table", "--no-progress-bar", "-o", results],
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
        said = done.stderr.decode("utf-8", "replace").replace(config, "config").strip()
        if not os.path.exists(results):
            raise errors.ArgumentError(said or "fumehood eval ended with status %d" % done.returncode, "", "argument")
        with open(results, encoding="utf-8") as file:
            row = json.load(file)["results"]["results"][0]
    if not row.get("gradingResult"):
        raise errors.EngineError(row.get("error") or said, "", "system")
    found = row["gradingResult"]["componentResults"][0]
    return {"pass": found["pass"], "score": found["score"], "reason": found["reason"], "metadata": found.get("metadata") or {}}
