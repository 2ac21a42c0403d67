"""A client on the official Python SDK of MCP that asks its person: calls a tool with each answer.

    python asking_client.py MODE TOOL ARGUMENTS ANSWER... -- SERVER...

MODE is a generation of the protocol: legacy or 2026-07-28. An ANSWER is once, always, never or
cancel; without any, the client cannot ask. Prints a JSON line a call: {"error": bool, "text": "...",
"asked": [the messages]}.
"""

import asyncio
import json
import os
import sys

from mcp import Client, types
from mcp.client.stdio import StdioServerParameters


async def main(mode, tool, arguments, answers, server):
    asked = []

    async def ask(_, params):
        asked.append(params.message)
        if answers[0] == "cancel":
            return types.ElicitResult(action="cancel")
        return types.ElicitResult(action="accept", content={"answer": answers[0]})

    parameters = StdioServerParameters(command=server[0], args=server[1:], env=dict(os.environ))
    callback = None if answers == ["none"] else ask
    async with Client(parameters, mode=mode, elicitation_callback=callback) as client:
        while answers:
            result = await client.call_tool(tool, json.loads(arguments))
            text = "\n".join(part.text for part in result.content if part.type == "text")
            print(json.dumps({"error": bool(result.is_error), "text": text, "asked": asked}), flush=True)
            asked.clear()
            answers.pop(0)


mode, tool, arguments, *rest = sys.argv[1:]
split = rest.index("--")
asyncio.run(main(mode, tool, arguments, rest[:split], rest[split + 1 :]))
