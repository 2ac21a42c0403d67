"""A client on the official Python SDK of MCP: carries out calls that it reads, a JSON line each.

    python http_client.py URL [HANDLE]   (the token is in DESKLINE_TOKEN)

A line is [tool, arguments]; [] lists the resources; null ends the session. The answer is a line:
{"error": bool, "text": "...", "pictures": N}.
"""

import asyncio
import json
import os
import sys

from mcp import ClientSession
from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client


def say(value):
    print(json.dumps(value), flush=True)


async def main(url, *handle):
    headers = {"Authorization": f"Bearer {os.environ['DESKLINE_TOKEN']}"}
    headers |= {"Deskline-Handle": name for name in handle}
    async with (
        create_mcp_http_client(headers=headers) as http,
        streamable_http_client(url, http_client=http) as streams,
        ClientSession(streams[0], streams[1]) as session,
    ):
        server = await session.initialize()
        tools = await session.list_tools()
        say({"instructions": server.instructions, "tools": len(tools.tools)})
        while (line := await asyncio.to_thread(sys.stdin.readline)) and (call := json.loads(line)) is not None:
            if not call:
                listed = await session.list_resources()
                say({"error": False, "text": "\n".join(str(r.uri) for r in listed.resources), "pictures": 0})
                continue
            result = await session.call_tool(call[0], call[1])
            texts = [part.text for part in result.content if part.type == "text"]
            pictures = sum(part.type == "image" for part in result.content)
            say({"error": bool(result.is_error), "text": "\n".join(texts), "pictures": pictures})


asyncio.run(main(*sys.argv[1:]))
