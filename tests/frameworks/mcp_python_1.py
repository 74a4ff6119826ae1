# SPDX-License-Identifier: MIT
"""The official Python SDK before 2 (most frameworks still have it) as a client of `fumehood mcp`. Argument: the program, or the address."""
import asyncio
import sys

from mcp import ClientSession, McpError, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamablehttp_client


async def refused(call, code):
    try:
        await call
    except McpError as error:
        assert error.error.code == code, error
    else:
        raise AssertionError("nothing raised")


async def main(where):
    transport = streamablehttp_client(where) if where.startswith("http") else stdio_client(StdioServerParameters(command=where, args=["mcp"]))
    async with transport as streams, ClientSession(*streams[:2]) as session:
        await session.initialize()
        assert "run_code" in [tool.name for tool in (await session.list_tools()).tools]
        await refused(session.call_tool("no such tool", {}), -32602)
        await refused(session.list_prompts(), -32601)
        results = await asyncio.gather(*[session.call_tool("run_code", {"code": "print(%d)" % number}) for number in range(20)])
        assert [result.content[0].text for result in results] == [str(number) for number in range(20)]
    print("ok")


asyncio.run(main(*sys.argv[1:]))
