# SPDX-License-Identifier: MIT
"""Examines Python source by its tokens and its syntax tree, if the text can be parsed."""
import ast
import io
import tokenize

_QUIET = (tokenize.NL, tokenize.COMMENT)
_BREAKS = (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)


def without_comments(code):
    """The code with comments, and strings that stand alone as statements, blanked; None: the text cannot be
    tokenized."""
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(code).readline))
    except (tokenize.TokenError, SyntaxError, ValueError):
        return None
    lines = code.splitlines(True)
    spans = [(token.start, token.end) for token in tokens if token.type == tokenize.COMMENT]
    said = [token for token in tokens if token.type not in _QUIET and token.type != getattr(tokenize, "ENCODING", -1)]
    for before, token, after in zip([None] + said, said, said[1:]):
        alone = (before is None or before.type in _BREAKS) and after.type in (tokenize.NEWLINE, tokenize.ENDMARKER)
        if token.type == tokenize.STRING and alone:
            spans.append((token.start, token.end))
    for (row, column), (last, end) in sorted(spans, reverse=True):
        if row == last:
            lines[row - 1] = lines[row - 1][:column] + lines[row - 1][end:]
        else:
            lines[row - 1:last] = [lines[row - 1][:column] + lines[last - 1][end:]]
    return "".join(lines)


def _text(node):
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def imports(code):
    """Names of the modules, dotted as written, in import statements, __import__ and import_module; None: no valid
    Python."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.update(name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
            found.update("{}.{}".format(node.module, name.name) for name in node.names)
        elif isinstance(node, ast.Call) and node.args:
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if called in ("__import__", "import_module") and _text(node.args[0]):
                found.add(_text(node.args[0]))
    return found
