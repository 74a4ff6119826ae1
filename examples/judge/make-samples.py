#!/usr/bin/env python3
"""Makes samples.jsonl from recorded answers: the first fenced block of each answer to the three problems, as it stands.

    make-samples.py RECORDINGS.jsonl > samples.jsonl

A problem's prompt here is a comment, so that a completion is a whole function. Model, seed, temperature and date of each
answer are kept beside it; `fumehood judge` reads task_id and completion and leaves the rest alone.
"""
import json
import re
import sys

FENCE = re.compile(r"```[a-z]*\n(.*?)(?:```|\Z)", re.S)

for line in open(sys.argv[1]):
    answer = json.loads(line)
    task = answer["task_id"].removeprefix("tutorial/")
    block = FENCE.search(answer["response"])
    if answer["task_id"].startswith("tutorial/"):
        print(json.dumps({"task_id": f"functions/{task}", "completion": block[1] if block else answer["response"],
                          **{k: answer[k] for k in ("model", "seed", "temperature", "date")}}))
