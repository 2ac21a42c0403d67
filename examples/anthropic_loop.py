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
from scripted import a_note, as_claude


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
    return httpx2.Response(200, json=as_claude(messages, a_note(*sys.argv[1:])))


if __name__ == "__main__":
    http = httpx2.AsyncClient(transport=httpx2.MockTransport(scripted))
    claude = AsyncAnthropic(api_key="unused", http_client=http)
    print(asyncio.run(run("Save a note", claude)))
