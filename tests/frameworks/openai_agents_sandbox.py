# SPDX-License-Identifier: MIT
"""The OpenAI Agents SDK's SandboxAgent on our sandbox provider, with a scripted model; and the provider's sessions."""
import asyncio
import io
import json
import tempfile
import urllib.request
from pathlib import Path

from agents import ModelResponse, RunConfig, Runner, Usage
from agents.models.interface import Model
from agents.run_config import SandboxRunConfig
from agents.sandbox import Manifest, SandboxAgent
from agents.sandbox.entries import File
from agents.sandbox.errors import ExecTimeoutError, InvalidManifestPathError, WorkspaceReadNotFoundError
from agents.sandbox.manifest import Environment
from agents.sandbox.snapshot import LocalSnapshotSpec
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

from fumehood.integrations.openai_agents_sandbox import FumehoodSandboxClient, FumehoodSandboxClientOptions

#: Prints the command lines of all processes.
EVERYBODY = "cat /proc/[0-9]*/cmdline | tr '\\0' ' '; true"
COMMANDS = ["cat given.txt && echo $COLOUR", "python -c 'print(6 * 7)' | tee made"]


class Scripted(Model):
    async def get_response(self, system_instructions, input, *args, **kwargs):
        items = [] if isinstance(input, str) else input
        results = [item["output"] for item in items if isinstance(item, dict) and item.get("type") == "function_call_output"]
        if len(results) < len(COMMANDS):
            item = ResponseFunctionToolCall(type="function_call", name="exec_command", call_id="c%d" % len(results), id="i%d" % len(results),
                                            arguments=json.dumps({"cmd": COMMANDS[len(results)]}))
        else:
            text = ResponseOutputText(type="output_text", text="\n".join(results), annotations=[])
            item = ResponseOutputMessage(type="message", id="m", role="assistant", status="completed", content=[text])
        return ModelResponse(output=[item], usage=Usage(), response_id=None)

    def stream_response(self, *args, **kwargs):
        raise AssertionError("not asked")


async def agent(client):
    made = SandboxAgent(name="a", model=Scripted(), instructions="i",
                        default_manifest=Manifest(entries={"given.txt": File(content=b"given\n")}, environment=Environment(value={"COLOUR": "red"})))
    result = await Runner.run(made, "?", run_config=RunConfig(tracing_disabled=True, sandbox=SandboxRunConfig(client=client)))
    for part in ("given", "red", "42", "Process exited with code 0"):
        assert part in result.final_output, result.final_output


async def fails(kind, work):
    try:
        await work
    except kind as error:
        return error
    raise AssertionError("no %s" % kind)


async def commands(session):
    done = await session.exec("echo out; echo err >&2; pwd; exit 3")
    assert (done.exit_code, done.stdout, done.stderr) == (3, b"out\n/workspace\n", b"err\n"), (done.exit_code, done.stdout, done.stderr)
    assert (await session.exec("id", "-u", shell=False, user="user")).stdout == b"1000\n"
    assert (await session.exec("no-such-program", shell=False)).exit_code == 127
    await fails(ValueError, session.exec("id", user="somebody"))
    await fails(ExecTimeoutError, session.exec("(setsid sleep 8642.1 &); sleep 8642.1", timeout=1))
    assert b"8642.1" not in (await session.exec(EVERYBODY)).stdout
    work = asyncio.ensure_future(session.exec("echo on > begun; sleep 8642.2"))
    while not (await session.exec("test -e begun")).ok():
        await asyncio.sleep(0.1)
    assert b"8642.2" in (await session.exec(EVERYBODY)).stdout
    work.cancel()
    await fails(asyncio.CancelledError, work)
    assert b"8642.2" not in (await session.exec(EVERYBODY)).stdout
    outputs = await asyncio.gather(*(session.exec("echo %d" % n) for n in range(12)))
    assert [int(one.stdout) for one in outputs] == list(range(12))


async def files(session):
    await session.write(Path("sub/a.bin"), io.BytesIO(bytes(range(256)) * 20000))
    assert (await session.read(Path("sub/a.bin"))).read() == bytes(range(256)) * 20000
    assert await session.read_bounded(Path("sub/a.bin"), max_bytes=3) == b"\0\1\2"
    assert [entry.path.rsplit("/", 1)[-1] for entry in await session.ls("sub")] == ["a.bin"]
    await fails(WorkspaceReadNotFoundError, session.read(Path("none")))
    await session.exec("ln -s /etc/passwd out; ln -s /etc outside")
    for path in ("out", "outside/passwd", "/etc/passwd", "../etc/passwd"):
        await fails(InvalidManifestPathError, session.read(Path(path)))
    await fails(InvalidManifestPathError, session.write(Path("outside/new"), io.BytesIO(b"x")))


async def terminals(session):
    assert session.supports_pty()
    update = await session.pty_exec_start("read line; echo got $line; test -t 0 && exit 5", tty=True, yield_time_s=0.3)
    assert update.process_id is not None and update.exit_code is None
    said = b""
    update = await session.pty_write_stdin(session_id=update.process_id, chars="hello\n", yield_time_s=20)
    assert b"got hello" in update.output and update.exit_code == 5, update
    update = await session.pty_exec_start("echo a; echo b >&2; sleep 8642.3", yield_time_s=1)
    while update.exit_code is None and said.count(b"\n") < 2:
        said += update.output
        if said.count(b"\n") < 2:
            update = await session.pty_write_stdin(session_id=update.process_id, chars="", yield_time_s=1)
    assert sorted(said.split()) == [b"a", b"b"], said
    await session.pty_terminate_all()
    while b"8642.3" in (await session.exec(EVERYBODY)).stdout:
        await asyncio.sleep(0.1)


async def ports(session):
    await session.pty_exec_start("echo served > index.html; python3 -m http.server --bind 127.0.0.1 8123", yield_time_s=0.3)
    while not (await session.exec("python3", "-c", "import socket; socket.create_connection(('127.0.0.1', 8123))", shell=False)).ok():
        await asyncio.sleep(0.2)
    endpoint = await session.resolve_exposed_port(8123)
    text = await asyncio.get_running_loop().run_in_executor(None, lambda: urllib.request.urlopen(endpoint.url_for("http"), timeout=60).read())
    assert text == b"served\n", text


async def main():
    client = FumehoodSandboxClient()
    await agent(client)
    with tempfile.TemporaryDirectory() as folder:
        session = await client.create(snapshot=LocalSnapshotSpec(base_path=Path(folder)), options=FumehoodSandboxClientOptions(exposed_ports=(8123,)))
        async with session:
            for part in (commands, files, terminals, ports):
                await part(session)
        assert not await session.running()
        state = client.serialize_session_state(session.state)
        again = await client.resume(client.deserialize_session_state(json.loads(json.dumps(state))))  # another sandbox, from the snapshot
        async with again:
            assert (await again.read(Path("index.html"))).read() == b"served\n"
        await client.delete(again)
    paused = await client.create(options=FumehoodSandboxClientOptions(pause_on_exit=True, memory="256M"))
    async with paused:
        await paused.exec("echo kept > /root/outside-the-workspace")
    assert not await paused.running()
    resumed = await client.resume(paused.state)
    async with resumed:
        assert (await resumed.exec("cat /root/outside-the-workspace")).stdout == b"kept\n"
    await client.delete(resumed)
    assert not await resumed.running()
    await fails(ValueError, client.create(manifest=Manifest(users=[{"name": "somebody"}])))


asyncio.run(main())
print("ok")
