# SPDX-License-Identifier: MIT
"""Checks programs against a security policy."""
import re

from ..language_handlers.base import AbstractLanguageHandler
from ..security.policy import SecurityIssueSeverity, SecurityPattern


def _view(code, handler):
    """What a policy looks at, a method that makes an expression for a module, and the modules that are imported, if that is known. A
    handler that is none of ours, as a stand-in in a test, has the original's two methods alone."""
    if not isinstance(handler, AbstractLanguageHandler):
        return handler.filter_comments(code), handler.get_import_patterns, None
    plain = handler.policy_text(code)
    return plain, handler.policy_pattern, handler.imports(plain)


def violations(code, policy, handler):
    """The patterns and restricted modules that the code contains, as patterns. The policy is not changed."""
    if policy is None or not code:
        return []
    plain, expression_of, imported = _view(code, handler)
    found = [pattern for pattern in policy.patterns or [] if re.search(pattern.pattern, plain, re.MULTILINE)]
    for module in policy.restricted_modules or []:
        expression = expression_of(module.name)
        if imported is None:
            is_there = re.search(expression, plain, re.MULTILINE) is not None
        else:
            is_there = any(name == module.name or name.startswith(module.name + ".") for name in imported)
        if is_there:
            found.append(SecurityPattern(pattern=expression, description=module.description, severity=module.severity))
    return found


def reaches(found, policy):
    """Whether the violations reach the policy's threshold. As in the original, a threshold of SAFE lets everything
    pass."""
    threshold = policy.severity_threshold if policy is not None else SecurityIssueSeverity.SAFE
    return threshold != SecurityIssueSeverity.SAFE and any(pattern.severity >= threshold for pattern in found)


def restricts(policy, package):
    """The restricted module that a package's name stands for, or None. As in the original, the threshold makes no difference."""
    if not isinstance(package, str):
        return None  # no name: whoever installs it says so
    name = re.split(r"[\[=<>!~@: ]", package, maxsplit=1)[0].lower().replace("-", "_")
    for module in (policy.restricted_modules or []) if policy is not None else []:
        if module.name.lower().replace("-", "_") == name:
            return module
    return None
