# SPDX-License-Identifier: MIT
"""The E2B sandboxes of OpenAI's Agents SDK, unmodified, against `fumehood serve`: run by `fumehood with`."""
import asyncio
import io
from pathlib import Path

from agents.extensions.sandbox.e2b import E2BSandboxClient, E2BSandboxClientOptions


async def main():
    client = E2BSandboxClient()
    session = await client.create(options=E2BSandboxClientOptions(sandbox_type="e2b"))
    async with session:
        done = await session.exec("echo $((6 * 7)); echo aside >&2; exit 3", shell=True)
        assert (done.exit_code, done.stdout, done.stderr) == (3, b"42\n", b"aside\n"), done
        await session.write(Path("kept.txt"), io.BytesIO(b"kept"))
        assert (await session.read(Path("kept.txt"))).read() == b"kept"
        done = await session.exec("cat kept.txt", shell=True)
        assert done.stdout == b"kept", done
    await client.delete(session)


asyncio.run(main())
print("ok")
