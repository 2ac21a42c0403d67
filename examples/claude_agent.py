"""The Claude Agent SDK: Deskline is one of the agent's MCP servers, and its only tools.

    python claude_agent.py TEXT PATH
"""

import asyncio
import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from claude_agent_sdk import ClaudeAgentOptions, ResultMessage, query
from desktop import HEADERS, URL
from scripted import a_note, as_claude


async def run(task, environment):
    """Carries out a task on the desktop of this handle."""
    desktop = {"type": "http", "url": URL, "headers": HEADERS}
    options = ClaudeAgentOptions(
        mcp_servers={"deskline": desktop},
        # Allow none of the program's own tools, and all of Deskline's without a question.
        tools=[],
        allowed_tools=["mcp__deskline"],
        # Use no settings, instructions or servers from files on this machine.
        setting_sources=[],
        strict_mcp_config=True,
        max_turns=20,
        env=environment,
    )
    async for message in query(prompt=task, options=options):
        if isinstance(message, ResultMessage):
            return message.result


class Scripted(BaseHTTPRequestHandler):
    """In place of Anthropic's servers."""

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if not self.path.startswith("/v1/messages?"):
            return self.send_error(404)
        messages = json.loads(body)["messages"]
        answer = as_claude(messages, a_note(*sys.argv[1:]), "mcp__deskline__")
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for event in events(answer):
            self.wfile.write(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())

    def log_message(self, *_):
        pass


def events(answer):
    """An answer with one block as a stream."""
    (block,) = answer["content"]
    begun = answer | {"content": [], "stop_reason": None}
    yield {"type": "message_start", "message": begun}
    if block["type"] == "text":
        empty, delta = {"text": ""}, {"type": "text_delta", "text": block["text"]}
    else:
        text = json.dumps(block["input"])
        empty, delta = {"input": {}}, {"type": "input_json_delta", "partial_json": text}
    yield {"type": "content_block_start", "index": 0, "content_block": block | empty}
    yield {"type": "content_block_delta", "index": 0, "delta": delta}
    yield {"type": "content_block_stop", "index": 0}
    end = {"stop_reason": answer["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": end, "usage": answer["usage"]}
    yield {"type": "message_stop"}


if __name__ == "__main__":
    with ThreadingHTTPServer(("127.0.0.1", 0), Scripted) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        environment = {
            "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{server.server_port}",
            "ANTHROPIC_API_KEY": "unused",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        }
        print(asyncio.run(run("Save a note", environment)))
        server.shutdown()
