# SPDX-License-Identifier: MIT
"""An eval of many small tests."""
import json
import pathlib
import shlex
import statistics
import tempfile

from common import timed

TESTS = 1000


def bench(program, options):
    print(f"\neval: {TESTS} tests with the echo provider and one assertion each")
    with tempfile.TemporaryDirectory(prefix="fumehood-bench-") as folder:
        config = pathlib.Path(folder) / "promptfooconfig.yaml"
        tests = "".join(f"  - vars: {{n: '{i}'}}\n    assert: [{{type: equals, value: 'say {i}'}}]\n" for i in range(TESTS))
        config.write_text("prompts: ['say {{n}}']\nproviders: [echo]\ntests:\n" + tests)
        out = pathlib.Path(folder) / "out.json"
        command = [program, "eval", "-c", str(config), "-o", str(out), "--no-table", "--no-progress-bar"]
        times = [timed(command) for _ in range(5)]
        stats = json.loads(out.read_text())["results"]["stats"]
        if stats["successes"] != TESTS:
            raise SystemExit(f"bench: the eval did not pass all tests: {stats}")
    seconds, peak = statistics.median(t for t, _ in times), max(p for _, p in times)
    print(f"  {seconds * 1e3:.0f} ms (median of {len(times)}), at most {peak:.0f} MiB, {TESTS / seconds:.0f} tests/s")
    print(f"  {shlex.join(command)}")
    return {"seconds": round(seconds, 4), "peak_mib": round(peak, 1), "tests": TESTS}
