"""Claude by Anthropic's client: its loop runs Deskline's tools.

    python anthropic_loop.py TEXT PATH
"""

import asyncio
import json
import sys

import httpx2
from anthropic import AsyncAnthropic
from anthropic.lib.tools.mcp import async_mcp_tool
from desktop import connect
from scripted import a_note, next_call


async def run(task, claude):
    """Carries out a task on the desktop of this handle."""
    async with connect() as desktop:
        listed = (await desktop.list_tools()).tools
        runner = claude.beta.messages.tool_runner(
            model="claude-sonnet-5",
            max_tokens=4096,
            messages=[{"role": "user", "content": task}],
            tools=[async_mcp_tool(tool, desktop) for tool in listed],
            # Each request has the whole conversation.
            thread=False,
        )
        message = await runner.until_done()
        return message.content[0].text


def scripted(request):
    """In place of Anthropic's servers."""
    messages = json.loads(request.content)["messages"]
    blocks = [b for m in messages if isinstance(m["content"], list) for b in m["content"]]
    results = [block["content"] for block in blocks if block["type"] == "tool_result"]
    answers = [r if isinstance(r, str) else r[0]["text"] for r in results]
    call = next_call(a_note(*sys.argv[1:]), answers)
    block, stop = {"type": "text", "text": "done"}, "end_turn"
    if call:
        identifier = f"toolu_{len(answers)}"
        block = {"type": "tool_use", "id": identifier, "name": call[0], "input": call[1]}
        stop = "tool_use"
    answer = {"id": "msg_1", "type": "message", "role": "assistant", "model": "scripted"}
    answer |= {"content": [block], "stop_reason": stop, "stop_sequence": None}
    usage = {"input_tokens": 0, "output_tokens": 0}
    return httpx2.Response(200, json=answer | {"usage": usage})


if __name__ == "__main__":
    http = httpx2.AsyncClient(transport=httpx2.MockTransport(scripted))
    claude = AsyncAnthropic(api_key="unused", http_client=http)
    print(asyncio.run(run("Save a note", claude)))
