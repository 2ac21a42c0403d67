"""A client on the official Python SDK of MCP, over stdio, as client.mjs.

    python stdio_client.py PROGRAM ARGUMENTS…
"""

import asyncio
import json
import os
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


def say(value):
    print(json.dumps(value), flush=True)


async def main(command, *args):
    server = StdioServerParameters(command=command, args=list(args), env=dict(os.environ))
    with open(os.devnull, "w") as null:
        async with stdio_client(server, errlog=null) as streams, ClientSession(*streams) as session:
            hello = await session.initialize()
            tools = await session.list_tools()
            say({"tools": len(tools.tools), "instructions": hello.instructions})
            while line := await asyncio.to_thread(sys.stdin.readline):
                tool, values, *timeout = json.loads(line)
                limit = {"read_timeout_seconds": timeout[0] / 1000} if timeout else {}
                try:
                    result = await session.call_tool(tool, values, **limit)
                except Exception as error:
                    say({"error": True, "text": str(error)})
                    continue
                text = "\n".join(part.text for part in result.content if part.type == "text")
                say({"error": bool(result.is_error), "text": text})


asyncio.run(main(*sys.argv[1:]))
