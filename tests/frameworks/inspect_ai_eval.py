# SPDX-License-Identifier: MIT
"""An agent eval of inspect_ai with a mock model: its tools run in our sandbox."""
import tempfile

from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import Score, accuracy, scorer
from inspect_ai.solver import generate, use_tools
from inspect_ai.tool import bash, python
from inspect_ai.util import SandboxUserUnsupportedError, sandbox

import fumehood.integrations.inspect_ai  # noqa: F401  registers it


@scorer(metrics=[accuracy()])
def files_are_there():
    async def score(state, target):
        box = sandbox()
        await box.write_file("sub/binary", b"\xff\0")
        assert await box.read_file("sub/binary", text=False) == b"\xff\0"
        assert (await box.exec(["cat"], input="typed")).stdout == "typed"
        assert (await box.exec(["sh", "-c", "echo $A; pwd; exit 3"], env={"A": "env"}, cwd="/tmp")).returncode == 3
        assert (await box.exec(["no-such-program"])).returncode == 127
        assert (await box.exec(["ls"], cwd="sub")).stdout == "binary\n"
        long = await box.exec(["sh", "-c", 'printf %s "$@"; cat >&2; exit 3', "-"] + ["x" * 60000] * 16, input="typed", cwd="sub")
        assert (long.stdout, long.stderr, long.returncode) == ("x" * 960000, "typed", 3), (len(long.stdout), long.stderr, long.returncode)
        assert (await box.exec(["sh", "-c", 'id -un; echo $#', "-"] + ["x" * 60000] * 16, user="root")).stdout == "root\n16\n"
        await box.exec(["sh", "-c", "rm -f /tmp/.command-*"])
        long = await box.exec(["no-such-program"] + ["x" * 60000] * 16)
        assert long.returncode == 127 and "no-such-program" in long.stderr, long
        assert (await box.exec(["sh", "-c", "ls -A /tmp | wc -l"])).stdout == "0\n"
        try:
            await box.exec(["true"], user="nobody")
            raise AssertionError("ran as nobody")
        except SandboxUserUnsupportedError as error:
            assert "nobody" in str(error)
        for error, work in ((FileNotFoundError, box.read_file("none")), (TimeoutError, box.exec(["sleep", "60"], timeout=1)),
                            (IsADirectoryError, box.read_file("sub")), (UnicodeDecodeError, box.read_file("sub/binary"))):
            try:
                await work
                raise AssertionError("no %s" % error)
            except error:
                pass
        return Score(value=1 if (await box.read_file("made")).strip() == "42" and "HOST" not in (await box.exec(["env"])).stdout else 0)
    return score


def counted(output):
    output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)  # else it is counted with a table from the network
    return output


def call(tool, **arguments):
    return counted(ModelOutput.for_tool_call("mockllm/model", tool, arguments))


model = get_model("mockllm/model", custom_outputs=[call("python", code="print(6 * 7, file=open('made', 'w'))"), call("bash", command="cat made"),
                                                   counted(ModelOutput.from_content("mockllm/model", "done"))])
task = Task(dataset=[Sample(input="?", target="", files={"given.txt": "given"})], solver=[use_tools([bash(timeout=30), python(timeout=30)]), generate()],
            scorer=files_are_there(), sandbox="fumehood")
many = Task(dataset=[Sample(input="?", target="", files={"made": "42"}) for _ in range(6)], scorer=files_are_there(), sandbox="fumehood")
with tempfile.TemporaryDirectory() as logs:
    log, = eval(many, model=get_model("mockllm/model", custom_outputs=[counted(ModelOutput.from_content("mockllm/model", "done")) for _ in range(6)]),
                log_dir=logs, display="none", max_samples=6)  # side by side
    assert log.status == "success", str(log.error)[:600]
    assert log.results.scores[0].metrics["accuracy"].value == 1, [sample.scores for sample in log.samples]
    log, = eval(task, model=model, log_dir=logs, display="none")
    assert log.status == "success", str(log.error)[:600]
    assert log.results.scores[0].metrics["accuracy"].value == 1, log.samples[0]
    results = [message.text for message in log.samples[0].messages if message.role == "tool"]
    assert results[-1].strip() == "42", results


@scorer(metrics=[accuracy()])
def is_small():
    async def score(state, target):
        done = await sandbox().exec(["sh", "-c", "for i in $(seq 30); do sleep 1 & done"])
        return Score(value=int("Cannot fork" in done.stderr))
    return score


with tempfile.TemporaryDirectory() as logs:
    with open(logs + "/small.json", "w") as file:
        file.write('{"processes": 16}')
    for config, passed in ((logs + "/small.json", 1), (None, 0)):
        task = Task(dataset=[Sample(input="?", target="")], scorer=is_small(), sandbox=("fumehood", config) if config else "fumehood")
        log, = eval(task, model=get_model("mockllm/model", custom_outputs=[counted(ModelOutput.from_content("mockllm/model", "done"))]), log_dir=logs,
                    display="none")
        assert log.status == "success", str(log.error)[:600]
        assert log.results.scores[0].metrics["accuracy"].value == passed, (config, log.samples[0].scores)
print("ok")
