# SPDX-License-Identifier: MIT
"""The command `fumehood`, which the wheel carries."""
import os
import sys

from . import errors
from ._library import program


def main() -> None:
    try:
        path = program()
    except errors.LibraryError as error:
        sys.exit("fumehood: %s" % error)
    os.execv(path, ["fumehood"] + sys.argv[1:])


if __name__ == "__main__":
    main()
