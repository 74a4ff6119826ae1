# SPDX-License-Identifier: MIT
"""R's packages: fetched as sources by the caller's R from the caller's repositories, and installed in a sandbox. The rest of what
they need is this machine's: compilers, and libraries below /usr."""
import glob
import hashlib
import os
from typing import Dict, List, Mapping, Sequence, Tuple

from ._build import FETCHED, OUT, build, failure
from ._run import run_tool
from ._store import digest

_FETCH = r"""
words <- commandArgs(TRUE); folder <- words[1]; names <- words[-1]
repos <- getOption("repos")
if (is.null(repos) || any(repos == "@CRAN@")) repos["CRAN"] <- Sys.getenv("R_REPO", "https://cloud.r-project.org")
if (nzchar(Sys.getenv("R_REPO"))) repos <- c(CRAN = Sys.getenv("R_REPO"))
said <- character()
known <- withCallingHandlers(available.packages(repos = repos, type = "source"),
                             warning = function(w) { said <<- c(said, conditionMessage(w)); invokeRestart("muffleWarning") })
absent <- setdiff(names, rownames(known))
if (length(absent)) { message("Error: not found in ", paste(repos, collapse = ", "), ": ", paste(absent, collapse = ", ")); message(said); quit(status = 3) }
needed <- unlist(tools::package_dependencies(names, known, which = c("Depends", "Imports", "LinkingTo"), recursive = TRUE))
there <- rownames(installed.packages(lib.loc = c(.Library, .Library.site)))
wanted <- unique(c(names, setdiff(needed, there)))
absent <- setdiff(wanted, rownames(known))
if (length(absent)) { message("Error: not found, though required: ", paste(absent, collapse = ", ")); quit(status = 3) }
got <- download.packages(wanted, folder, available = known, repos = repos, type = "source", quiet = TRUE)
if (nrow(got) < length(wanted)) { message("Error: not fetched: ", paste(setdiff(wanted, got[, 1]), collapse = ", ")); quit(status = 3) }
"""
_BUILD = r"""
words <- commandArgs(TRUE); fetched <- words[1]; out <- words[2]; names <- words[-(1:2)]
dir.create(out); source <- file.path(tempdir(), "repository", "src", "contrib"); dir.create(source, recursive = TRUE)
invisible(file.copy(list.files(fetched, full.names = TRUE), source))
tools::write_PACKAGES(source, type = "source")
.libPaths(c(out, .libPaths()))
install.packages(names, lib = out, repos = paste0("file://", dirname(dirname(source))), type = "source", INSTALL_opts = "--no-docs", quiet = TRUE)
absent <- setdiff(names, list.files(out))
if (length(absent)) { message("Error: not installed: ", paste(absent, collapse = ", ")); quit(status = 3) }
"""


def _rscript() -> str:
    from .. import hostimage
    return hostimage.interpreter("r")


def request_key(names: List[str]) -> str:
    settings = {name: value for name, value in os.environ.items() if name in ("R_REPO", "R_PROFILE", "R_PROFILE_USER", "R_LIBS_SITE")}
    files = [os.environ.get("R_PROFILE_USER") or os.path.expanduser("~/.Rprofile"), os.environ.get("R_PROFILE"), "/etc/R/Rprofile.site"]
    stamps = [[path, os.stat(path).st_mtime] for path in files if path and os.path.exists(path)]
    return digest("r 1", sorted(names), _rscript(), os.stat(_rscript()).st_mtime, settings, stamps)


def fill(into: str, names: List[str]) -> str:
    sums: Dict[str, str] = {}

    def fetch(folder: str) -> None:
        done = run_tool([_rscript(), "-e", _FETCH, folder, *names], dict(os.environ), "R", folder)
        if done.returncode:
            raise failure(names, done.stderr or done.stdout, "is the repository reachable (options(repos=…) in ~/.Rprofile, or R_REPO)?")
        for place in glob.glob(os.path.join(folder, "*.tar.gz")):
            with open(place, "rb") as file:
                sums[os.path.basename(place)] = hashlib.sha256(file.read()).hexdigest()

    if names:
        build("r", names, into, fetch, lambda program: [program, "--vanilla", "-e", _BUILD, FETCHED, OUT, *names])
    return digest("r 1", request_key([]), sums)


def environment(shown: Sequence[Tuple[str, str]], before: Mapping[str, str]) -> Dict[str, str]:
    return {"R_LIBS": ":".join(place for _, place in shown)}
