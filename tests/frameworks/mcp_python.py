# SPDX-License-Identifier: MIT
"""The official Python SDK (package mcp) as a client of `fumehood mcp`. Arguments: the program, or the address; and the SDK's mode."""
import asyncio
import sys

from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client


async def main(where, mode):
    transport = where if where.startswith("http") else stdio_client(StdioServerParameters(command=where, args=["mcp"]))
    async with Client(transport, mode=mode) as client:
        assert "run_code" in [tool.name for tool in (await client.list_tools()).tools]
        result = await client.call_tool("run_code", {"code": "print(6 * 7)"})
        assert result.content[0].text == "42" and result.structured_content["status"] == "ok", result
        said = []

        async def progress(_count, _total, message):
            said.append(message)

        await client.call_tool("run_code", {"code": "import time\nprint('half', flush=True); time.sleep(0.5)"}, progress_callback=progress)
        assert said[0] == "half", said
        opened = (await client.call_tool("session_open", {})).structured_content["session"]
        await client.call_tool("session_run", {"code": "x = 6", "session": opened})
        assert (await client.call_tool("session_run", {"code": "x * 7", "session": opened})).content[0].text == "42"
        await client.call_tool("session_write_file", {"path": "a.txt", "text": "hällo", "session": opened})
        uri = "fumehood://session/%s/files/a.txt" % opened
        assert (await client.read_resource(uri)).contents[0].text == "hällo"
        assert (await client.call_tool("run_code", {"cod": ""})).is_error
        await client.call_tool("session_close", {"session": opened})
    print("ok")


asyncio.run(main(*sys.argv[1:]))
