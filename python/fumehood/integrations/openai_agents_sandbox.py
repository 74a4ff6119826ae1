# SPDX-License-Identifier: MIT
"""OpenAI Agents SDK: a sandbox provider, for its SandboxAgent.

    agent = SandboxAgent(name="coder", model=..., instructions=...)
    run_config = RunConfig(sandbox=SandboxRunConfig(client=FumehoodSandboxClient(), options=FumehoodSandboxClientOptions()))
    await Runner.run(agent, "...", run_config=run_config)

The workspace, the commands and the terminals of an agent are in one sandbox without network. It ends with the session; with
``pause_on_exit`` it waits, stopped, until its state is resumed by the same process, or until the client deletes it. A state whose sandbox is gone
begins with its snapshot.
"""
import asyncio
import contextlib
import io
import tempfile
import uuid
from pathlib import Path
from typing import Any, Dict, List, Literal, Optional, Tuple, Union

from agents.sandbox.errors import (ExecTimeoutError, ExecTransportError, ExposedPortUnavailableError, WorkspaceArchiveReadError,
                                   WorkspaceArchiveWriteError, WorkspaceReadNotFoundError)
from agents.sandbox.manifest import Manifest
from agents.sandbox.session import SandboxSession, SandboxSessionState
from agents.sandbox.session.base_sandbox_session import BaseSandboxSession
from agents.sandbox.session.manager import Instrumentation
from agents.sandbox.session.runtime_helpers import RESOLVE_WORKSPACE_PATH_HELPER, RuntimeHelperScript
from agents.sandbox.session.sandbox_client import BaseSandboxClient, BaseSandboxClientOptions
from agents.sandbox.session.workspace_payloads import coerce_write_payload
from agents.sandbox.snapshot import SnapshotBase, SnapshotSpec, resolve_snapshot
from agents.sandbox.types import ExecResult, ExposedPortEndpoint, User
from agents.sandbox.workspace_paths import sandbox_path_grant_host_path

from .. import aio, errors
from ..client import Cancel
from ..container import ARCHIVE_MAX, NOT_FOUND, OUTPUT_MAX, Container, exec_code
from ._ports import Relay
from ._terminals import Terminals

__all__ = ["FumehoodSandboxClient", "FumehoodSandboxClientOptions", "FumehoodSandboxSession", "FumehoodSandboxSessionState"]

_PIECE = 1 << 20
#: Copies its stdin into a file; its folder is made.
_WRITE = ["sh", "-c", 'mkdir -p -- "$(dirname -- "$1")" && cat > "$1"', "sh"]

#: The containers of this process that live, by their ids, for states that are resumed.
_living: Dict[str, Container] = {}


class FumehoodSandboxClientOptions(BaseSandboxClientOptions):
    """``languages`` whose tools are there beside Python's and Node's; ``packages`` for Python, by the caller's own pip; ``limits`` are further
    limits of :func:`fumehood.run`. ``exposed_ports`` of programs inside are reached on ports of 127.0.0.1."""

    type: Literal["fumehood"] = "fumehood"
    languages: Tuple[str, ...] = ("python",)
    packages: Tuple[str, ...] = ()
    memory: Union[int, str] = 2 << 30
    disk: Union[int, str] = 2 << 30
    processes: int = 512
    limits: Dict[str, Any] = {}
    exposed_ports: Tuple[int, ...] = ()
    pause_on_exit: bool = False


class FumehoodSandboxSessionState(SandboxSessionState):
    type: Literal["fumehood"] = "fumehood"
    options: FumehoodSandboxClientOptions = FumehoodSandboxClientOptions()
    container_id: str = ""

    def _sanitize_persisted_provider_identity(self, data: Dict[str, Any], *, mount_authority_redacted: bool) -> None:
        if mount_authority_redacted:
            data["container_id"] = ""
            data["workspace_root_ready"] = False


def _name(user: Union[str, User, None]) -> Optional[str]:
    name = user.name if isinstance(user, User) else user
    if name not in (None, "root", "user"):
        raise ValueError("there is no user %r in the sandbox, only root and user" % name)
    return name


class FumehoodSandboxSession(BaseSandboxSession):
    state: FumehoodSandboxSessionState

    def __init__(self, state: FumehoodSandboxSessionState, container: Container) -> None:
        self.state = state
        self._container = container
        self._terminals = Terminals()
        self._relays: Dict[int, Relay] = {}

    # ---------------------------------------------------------------------------------------------------------- life

    async def _ensure_backend_started(self) -> None:
        await aio._call(self._start)

    def _start(self) -> None:
        sandbox = self._container.sandbox
        if sandbox.usage().paused:
            sandbox.resume()

    async def running(self) -> bool:
        return bool(await aio._call(self._is_running))

    def _is_running(self) -> bool:
        if self._container.closed or not self._container.made:
            return False
        try:
            return not self._container.sandbox.usage().paused
        except errors.Error:
            return False

    async def _shutdown_backend(self) -> None:
        for relay in self._relays.values():
            relay.close()
        self._relays.clear()
        if not self.state.options.pause_on_exit:
            await aio._call(_remove, self.state.container_id)
        elif await self.running():
            await aio._call(self._container.sandbox.pause)

    def _runtime_helpers(self) -> Tuple[RuntimeHelperScript, ...]:
        return (RESOLVE_WORKSPACE_PATH_HELPER,)

    def _current_runtime_helper_cache_key(self) -> Optional[object]:
        return self.state.container_id

    async def _validate_path_access(self, path: Union[Path, str], *, for_write: bool = False) -> Path:
        return await self._validate_remote_path_access(path, for_write=for_write)

    # ------------------------------------------------------------------------------------------------------ commands

    async def exec(self, *command: Union[str, Path], timeout: Optional[float] = None, shell: Union[bool, List[str]] = True,
                   user: Union[str, User, None] = None) -> ExecResult:
        argv = self._prepare_exec_command(*command, shell=shell, user=None)
        return await self._run(argv, timeout=timeout, user=_name(user))

    async def _exec_internal(self, *command: Union[str, Path], timeout: Optional[float] = None) -> ExecResult:
        return await self._run([str(word) for word in command], timeout=timeout)

    async def _run(self, argv: List[str], *, timeout: Optional[float] = None, user: Optional[str] = None, stdin: Optional[io.IOBase] = None,
                   output: int = OUTPUT_MAX, to: Any = None) -> ExecResult:
        """Runs a command to its end. ``stdin`` is poured into it; its stdout is written to the file ``to``, where one is given."""
        try:
            result: ExecResult = await aio._stoppable(lambda stop: self._run_here(argv, timeout, user, stdin, output, to, stop))
            return result
        except errors.TimeoutError as error:
            raise ExecTimeoutError(command=argv, timeout_s=timeout, cause=error) from error
        except errors.Error as error:
            raise ExecTransportError(command=argv, cause=error, message=str(error)) from error

    def _run_here(self, argv: List[str], timeout: Optional[float], user: Optional[str], stdin: Optional[io.IOBase], output: int, to: Any,
                  stop: Cancel) -> ExecResult:
        try:
            process = self._container.spawn(argv, stdin=stdin is not None, wall_time=timeout, output=output, user=user)
        except (errors.NotFoundError, errors.EngineError) as error:
            if not error.message.startswith("cannot execute"):
                raise
            return ExecResult(stdout=b"", stderr=(error.message + "\n").encode(), exit_code=NOT_FOUND)
        try:
            if stdin is not None:
                self._pour(process, stdin)
            while to is not None:
                piece = process.read_until(1, -1, None, stop)
                if not piece:
                    break
                to.write(piece)
            done = process.communicate_until(None, None, stop)
        except BaseException:
            with contextlib.suppress(errors.Error):
                process.kill_tree()
            raise
        if "wall_time" in done.fired:
            raise errors.TimeoutError("%s did not end within %s s" % (argv[0], timeout), "", "timeout")
        said = b"\n[the output was cut at %d bytes]\n" % output if "output" in done.fired else b""
        return ExecResult(stdout=done.stdout, stderr=done.stderr + said, exit_code=exec_code(done.exit_code, done.signal))

    @staticmethod
    def _pour(process: Any, stream: io.IOBase) -> None:
        while True:
            piece = stream.read(_PIECE)
            if not piece:
                break
            try:
                process.write(piece)
            except errors.Error:
                return  # it ended, or closed its stdin: its exit status tells
        with contextlib.suppress(errors.Error):
            process.close_stdin()

    # ----------------------------------------------------------------------------------------------------- terminals

    def supports_pty(self) -> bool:
        return True

    async def pty_exec_start(self, *command: Union[str, Path], timeout: Optional[float] = None, shell: Union[bool, List[str]] = True,
                             user: Union[str, User, None] = None, tty: bool = False, yield_time_s: Optional[float] = None,
                             max_output_tokens: Optional[int] = None) -> Any:
        argv = self._prepare_exec_command(*command, shell=shell, user=None)
        try:
            process = await aio._call(self._container.spawn, argv, stdin=tty, pty=tty, user=_name(user), wall_time=timeout, output=None)
        except errors.Error as error:
            raise ExecTransportError(command=argv, cause=error, message=str(error)) from error
        return await self._terminals.start(process, tty, yield_time_s, max_output_tokens)

    async def pty_write_stdin(self, *, session_id: int, chars: str, yield_time_s: Optional[float] = None,
                              max_output_tokens: Optional[int] = None) -> Any:
        entry = self._resolve_pty_session_entry(pty_processes=self._terminals.entries, session_id=session_id)
        return await self._terminals.write(session_id, entry, chars, yield_time_s, max_output_tokens)

    async def pty_terminate_all(self) -> None:
        await self._terminals.end()

    async def _resolve_exposed_port(self, port: int) -> ExposedPortEndpoint:
        if not await self.running():
            raise ExposedPortUnavailableError(port=port, exposed_ports=self.state.exposed_ports, reason="backend_unavailable")
        relay = self._relays.get(port)
        if relay is None:
            relay = self._relays[port] = Relay(self._container.sandbox, port)
        return ExposedPortEndpoint(host="127.0.0.1", port=relay.port)

    # --------------------------------------------------------------------------------------------------------- files

    async def read(self, path: Path, *, user: Union[str, User, None] = None) -> io.IOBase:
        return io.BytesIO(await self._read(path, ["cat", "--"], _name(user)))

    async def _read_bounded(self, path: Path, *, max_bytes: int) -> bytes:
        return await self._read(path, ["head", "-c", str(max_bytes), "--"], None)

    async def _read(self, path: Path, command: List[str], user: Optional[str]) -> bytes:
        place = await self._validate_path_access(path)
        argv = [*command, place.as_posix()]
        done = await self._run(argv, user=user, output=ARCHIVE_MAX)
        if done.exit_code == 1:
            if not (await self._run(["test", "-e", place.as_posix()], user=user)).ok():
                raise WorkspaceReadNotFoundError(path=path)
        if not done.ok():
            await self._raise_read_error_from_exec(path=path, workspace_path=place, command=argv, result=done, user=user)
        return done.stdout

    async def write(self, path: Path, data: io.IOBase, *, user: Union[str, User, None] = None) -> None:
        payload = coerce_write_payload(path=path, data=data)
        place = await self._validate_path_access(path, for_write=True)
        done = await self._run([*_WRITE, place.as_posix()], user=_name(user), stdin=payload.stream)
        self._must(done, place)

    @staticmethod
    def _must(done: ExecResult, place: Path) -> None:
        if not done.ok():
            raise WorkspaceArchiveWriteError(path=place, context={"stderr": done.stderr.decode("utf-8", "replace")[:4096]})

    async def persist_workspace(self) -> io.IOBase:
        root = self._workspace_root_path()
        left_out = ["--exclude=./" + path.as_posix() for path in sorted(self._persist_workspace_skip_relpaths())]
        archive = tempfile.TemporaryFile()
        try:
            done = await self._run(["tar", "-C", root.as_posix(), "--anchored", "--no-wildcards", *left_out, "-cf", "-", "."], output=ARCHIVE_MAX, to=archive)
        except BaseException:
            archive.close()
            raise
        if not done.ok():
            archive.close()
            raise WorkspaceArchiveReadError(path=root, context={"stderr": done.stderr.decode("utf-8", "replace")[:4096]})
        archive.seek(0)
        return archive

    async def hydrate_workspace(self, data: io.IOBase) -> None:
        """Unpacks an archive in the sandbox: what it holds can reach nothing beyond."""
        root = self._workspace_root_path()
        payload = coerce_write_payload(path=root, data=data)
        self._must(await self._run(["mkdir", "-p", "--", root.as_posix()]), root)
        self._must(await self._run(["tar", "-C", root.as_posix(), "--no-same-owner", "-xf", "-"], stdin=payload.stream), root)


def _remove(container_id: str) -> None:
    container = _living.pop(container_id, None)
    if container is not None:
        with contextlib.suppress(errors.Error):
            container.remove()


class FumehoodSandboxClient(BaseSandboxClient[FumehoodSandboxClientOptions]):
    """Makes sandboxes of this machine."""

    backend_id = "fumehood"
    supports_default_options = True

    def __init__(self, *, instrumentation: Optional[Instrumentation] = None, dependencies: Any = None) -> None:
        self._instrumentation = instrumentation or Instrumentation()
        self._dependencies = dependencies

    async def create(self, *, snapshot: Union[SnapshotSpec, SnapshotBase, None] = None, manifest: Optional[Manifest] = None,
                     options: Optional[FumehoodSandboxClientOptions] = None) -> SandboxSession:
        manifest = self._validate_manifest_for_create(manifest if manifest is not None else Manifest())
        options = options or FumehoodSandboxClientOptions()
        session_id = uuid.uuid4()
        state = FumehoodSandboxSessionState(session_id=session_id, manifest=manifest, snapshot=resolve_snapshot(snapshot, str(session_id)),
                                            exposed_ports=options.exposed_ports, options=options)
        return self._wrap_session(FumehoodSandboxSession(state, await _make(state)), instrumentation=self._instrumentation)

    async def resume(self, state: SandboxSessionState) -> SandboxSession:
        if not isinstance(state, FumehoodSandboxSessionState):
            raise TypeError("FumehoodSandboxClient.resume expects a FumehoodSandboxSessionState")
        state.assert_path_grants_rebound()
        container = _living.get(state.container_id)
        there = container is not None and await aio._call(_answers, container)
        if container is None or not there:
            _remove(state.container_id)
            state.workspace_root_ready = False
            container = await _make(state)
        session = FumehoodSandboxSession(state, container)
        session._set_start_state_preserved(there)
        return self._wrap_session(session, instrumentation=self._instrumentation)

    async def delete(self, session: SandboxSession) -> SandboxSession:
        inner = session._inner
        if not isinstance(inner, FumehoodSandboxSession):
            raise TypeError("FumehoodSandboxClient.delete expects a FumehoodSandboxSession")
        try:
            await inner.shutdown()
        finally:
            await aio._call(_remove, inner.state.container_id)
        return session

    def deserialize_session_state(self, payload: Dict[str, object]) -> SandboxSessionState:
        return self._deserialize_session_state_payload(payload, FumehoodSandboxSessionState)


def _answers(container: Container) -> bool:
    try:
        container.sandbox.usage()
        return True
    except errors.Error:
        return False


async def _make(state: FumehoodSandboxSessionState) -> Container:
    """A new container for a state. Its sandbox is made on first use."""
    manifest, options = state.manifest, state.options
    if manifest.users or manifest.groups:
        raise ValueError("a fumehood sandbox has the users root and user, and accounts cannot be added: leave the manifest's users and groups out")
    mounts = [(str(sandbox_path_grant_host_path(grant)), grant.path, "ro" if grant.read_only else "rw")
              for grant in manifest.extra_path_grants if grant.host_path is not None]
    env = await manifest.environment.resolve()
    container = Container(options.languages, user="root", cwd=manifest.root, env=env, mounts=mounts, memory=options.memory, disk=options.disk,
                          processes=options.processes, wall_time=None, **options.limits)
    if options.packages:
        await aio._call(container.install, "python", options.packages)
    state.container_id = container.id
    _living[container.id] = container
    return container
