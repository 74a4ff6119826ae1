# SPDX-License-Identifier: MIT
"""Packages on demand: what a list of names stands for, as a folder that is made once and shown read-only in sandboxes.

    >>> from fumehood import packages
    >>> packages.resolve("python", ["numpy"]).path
    '/root/.cache/fumehood/packages/python/content/5c1f...'

:func:`resolve` asks the caller's own package manager (pip, npm, gem, R, go, apt) with the caller's own settings, outside of any
sandbox, since there is no network in one. Nothing of a package is executed by that: pip takes wheels alone, npm runs no scripts, and
what gem, R and go get is built in a sandbox. apt's packages are unpacked, not installed. The result is a *template*: a folder named by a
hash of what is in it, kept below the XDG cache folder, shared by every session that asks for the same.
"""
from ._copy import copy_into
from ._names import check_list, check_name
from ._python import interpreter_facts, modules
from ._store import PackageError, Template, folder
from ._resolve import LANGUAGES, environment, resolve, set_up

__all__ = ["resolve", "environment", "set_up", "copy_into", "Template", "PackageError", "check_list", "check_name", "interpreter_facts", "modules", "folder", "LANGUAGES"]
