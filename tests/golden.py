# SPDX-License-Identifier: MIT
"""Golden cases of promptfoo 0.123.1: folders of tests/data/promptfoo with a config and what promptfoo made of it.

A case is a folder with promptfooconfig.yaml and what it names, `args` (more options, one shell line) and `env`
(NAME=VALUE lines) where there are any, and expected.json. `tests/golden.py PROGRAM [CASE …]` makes expected.json anew;
PROGRAM is promptfoo 0.123.1, for example "node node_modules/promptfoo/dist/src/entrypoint.js".
"""
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

import golden_server

CASES = pathlib.Path(__file__).resolve().parent / "data" / "promptfoo"
DROPPED = ("_promptfooFileMetadata", "errorContext", "sessionId")


def metadata_of(owner):
    """Metadata without what differs between two runs, and without the text of fumehood's own prompts for graders."""
    kept = {k: v for k, v in (owner.get("metadata") or {}).items() if k not in DROPPED}
    if "http" in kept:
        kept["http"] = {k: kept["http"][k] for k in ("status", "statusText")}
    if len(kept.get("renderedGradingPrompt", "")) > 300:
        kept["renderedGradingPrompt"] = "(long)"
    return kept


def rounded(value):
    if isinstance(value, dict):
        return {k: rounded(v) for k, v in value.items()}
    if isinstance(value, list):
        return [rounded(v) for v in value]
    return round(value, 6) if isinstance(value, float) else value


def grade(g):
    """The compared parts of a grading result: all but the wording of its reason."""
    if not g:
        return None
    kept = {k: g[k] for k in ("pass", "score", "namedScores") if k in g}
    metadata = metadata_of(g)
    if metadata:
        kept["metadata"] = metadata
    if g.get("assertion"):
        kept["assertion"] = {k: g["assertion"][k] for k in ("type", "value", "metric", "weight", "threshold") if k in g["assertion"]}
    if g.get("componentResults") is not None:
        kept["componentResults"] = [grade(c) for c in g["componentResults"]]
    return kept


def tokens(usage):
    return {k: usage[k] for k in ("total", "prompt", "completion", "cached") if usage.get(k)} if usage else {}


def row(r):
    response = r.get("response") or {}
    return {
        "testIdx": r["testIdx"], "promptIdx": r["promptIdx"], "provider": {k: r["provider"].get(k) or "" for k in ("id", "label")},
        "prompt": {k: r["prompt"].get(k) for k in ("raw", "label")}, "vars": r["vars"], "success": r["success"], "score": r["score"],
        "failureReason": r.get("failureReason"), "hasError": bool(r.get("error")), "output": response.get("output"),
        "namedScores": r.get("namedScores") or {}, "grading": grade(r.get("gradingResult")),
        "graderTokens": tokens((r.get("gradingResult") or {}).get("tokensUsed")),
        "description": (r.get("testCase") or {}).get("description"),
        "metadata": metadata_of(r)}


def normalise(data, folder, server):
    """A results file reduced to what can be compared: without ids, times, wording and the names of folder and server."""
    results = data["results"]
    metrics = ("score", "testPassCount", "testFailCount", "testErrorCount", "assertPassCount", "assertFailCount", "namedScores", "namedScoresCount", "cost")
    kept = {
        "prompts": [{"provider": p["provider"], "label": p["label"], "raw": p["raw"] if len(p["raw"]) < 400 else "(long)",
                     "metrics": {k: v for k, v in (p.get("metrics") or {}).items() if k in metrics}} for p in results["prompts"]],
        "stats": {k: results["stats"][k] for k in ("successes", "failures", "errors")}, "vars": data.get("vars"),
        "results": sorted((row(r) for r in results["results"]), key=lambda r: (r["testIdx"], r["promptIdx"]))}
    text = re.sub(re.escape(json.dumps(str(folder))[1:-1]), "<DIR>", json.dumps(rounded(kept)))
    return json.loads(text.replace(server, "<SERVER>") if server else text)


def run(program, case):
    config = CASES / case / "promptfooconfig.yaml"
    if not config.exists() or "GOLDEN_SERVER" not in config.read_text():
        return run_with(program, case, "")
    with golden_server.running() as server:
        return run_with(program, case, server)


def run_with(program, case, server):
    """Runs a case: {"exit": STATUS, …normalised results}, or {"exit": STATUS} when it wrote none."""
    with tempfile.TemporaryDirectory(prefix="golden") as top:
        folder = pathlib.Path(top).resolve() / case
        shutil.copytree(CASES / case, folder)
        (folder / "expected.json").unlink(missing_ok=True)
        env = {**os.environ, "NO_COLOR": "1", "HOME": top, "XDG_STATE_HOME": top + "/state", "XDG_DATA_HOME": top + "/data", "XDG_CACHE_HOME": top + "/cache",
               "PROMPTFOO_CONFIG_DIR": top + "/promptfoo", "PROMPTFOO_PYTHON": "python3", "PROMPTFOO_DISABLE_TELEMETRY": "1",
               "GOLDEN_SERVER": server, "PROMPTFOO_DISABLE_UPDATE": "1", "PROMPTFOO_DISABLE_REMOTE_GENERATION": "true", "CI": "true"}
        if (folder / "env").exists():
            env.update(line.split("=", 1) for line in (folder / "env").read_text().split("\n") if "=" in line)
        args = shlex.split((folder / "args").read_text()) if (folder / "args").exists() else []
        config = [] if "-c" in args or "--no-config" in args else ["-c", "promptfooconfig.yaml"]
        args = [a for a in args if a != "--no-config"]
        done = subprocess.run([*program, "eval", *config, "-o", top + "/out.json", "--no-cache", "--no-table", "--no-progress-bar", "-j", "1", *args],
                              cwd=folder, env=env, capture_output=True, text=True, timeout=180)
        out = pathlib.Path(top) / "out.json"
        found = normalise(json.loads(out.read_text()), folder, server) if out.exists() else {}
        said = "" if found else done.stdout + done.stderr
        return {"exit": done.returncode, **found}, said


def cases():
    return sorted(p.name for p in CASES.iterdir() if (p / "expected.json").exists() or p.is_dir())


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    for name in sys.argv[2:] or cases():
        result, words = run(shlex.split(sys.argv[1]), name)
        (CASES / name / "expected.json").write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n")
        print(name, result["exit"], result.get("stats"), words[-600:] if "stats" not in result else "")
