# SPDX-License-Identifier: MIT
"""What one run of an interpreter could leave for the next one, or share with a concurrent one."""
from case import Case, Planted


def random_words(language):
    """Two concurrent runs share no random value."""
    program = {"python": "random_words.py", "javascript": "random_words.js"}[language]

    def run(context, at_once, fixed=()):
        case = Case("", program, args=fixed)
        waiters = [context.start(case) for _ in range(max(at_once, 2))]
        answers = [context.finish(w) for w in waiters]
        lines = [a.get("result", {}).get("stdout", "").splitlines() for a in answers]
        found = []
        if any(not line for line in lines):
            found.append(("WRONG", f"a run said nothing: {str(answers)[:400]}"))
        for row in zip(*lines):
            # forks of one interpreter share its address layout and hash secret, which SECURITY.md says
            if len(set(row)) != len(row) and not (context.warm and row[0].split()[0] in ("address", "hash")):
                found.append(("ESCAPED", f"the same in two runs: {row[0]}"))
        return found, sorted({a.get("result", {}).get("status", "failed") for a in answers})
    return Case(f"randomness, {language}", "", custom=run, numbers="44", at_once=8, control=Planted(
        lambda c: [f for f in run(c, 2, ("fixed",))[0] if f[0] == "ESCAPED"], "a fixed seed is seen"))


def pollution(language, program):
    """A run that changes everything within its reach, followed by one that looks for changes."""
    def run(context, at_once):
        found, statuses = [], set()
        for step in ("pollute", "look"):
            case = Case("", program, args=(step,), limits=("--cpu-time", "60", "--wall-time", "120"))
            waiters = [context.start(case) for _ in range(at_once)]
            for answer in (context.finish(w) for w in waiters):
                result = answer.get("result", {})
                statuses.add(result.get("status", "failed"))
                if "POLLUTED" in result.get("stdout", ""):
                    found.append(("ESCAPED", result["stdout"][:300]))
                if step == "look" and "clean" not in result.get("stdout", ""):
                    found.append(("WRONG", f"{str(answer)[:400]}"))
        return found, sorted(statuses)
    return Case(f"pollution, {language}", "", custom=run, numbers="45", at_once=8, control=Planted(
        lambda c: "POLLUTED" in c.run(Case("", program, args=("both",)))["result"]["stdout"],
        "the same process sees it"))


CASES = [
    random_words("python"),
    random_words("javascript"),
    pollution("python", "pollution.py"),
    pollution("javascript", "pollution.js"),
]
