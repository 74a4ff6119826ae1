# SPDX-License-Identifier: MIT
"""An interpreter that was started before it was known for whom: what a start would have found is caught up with."""
import os
import sys


def adopt(started, variables):
    """There is no answer. `started`: the time of the start, in seconds."""
    os.environ.update(variables)
    _look_for_packages(started)


def _look_for_packages(started):
    """What `site` does at a start, for folders of packages that were made or changed since."""
    site = sys.modules.get("site")
    if site is None:
        return
    user = site.getusersitepackages() if site.ENABLE_USER_SITE else None
    for folder in [user] * bool(user) + site.getsitepackages():
        try:
            changed = os.stat(folder).st_mtime >= started or folder not in sys.path
        except OSError:
            continue
        before = list(sys.path)
        if changed:
            site.addsitedir(folder)
        if folder == user and folder not in before:  # a start puts it before the system's
            added = sys.path[len(before):]
            at = min([before.index(name) for name in site.getsitepackages() if name in before] or [len(before)])
            sys.path[:] = before[:at] + added + before[at:]
    for finder in list(sys.path_importer_cache.values()):  # as importlib.invalidate_caches, without what that imports
        if hasattr(finder, "invalidate_caches"):
            finder.invalidate_caches()
