"""The OpenAI Agents SDK: Deskline is one of the agent's MCP servers.

    python openai_agents.py TEXT PATH
"""

import asyncio
import json
import sys
import uuid

import agents
from agents.mcp import MCPServerStreamableHttp
from desktop import HEADERS, URL
from openai.types.responses import (
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)
from scripted import a_note, next_call


async def run(task, model):
    """Carries out a task on the desktop of this handle."""
    async with MCPServerStreamableHttp(
        name="deskline",
        params={"url": URL, "headers": HEADERS, "timeout": 60},
        client_session_timeout_seconds=120,
        cache_tools_list=True,
    ) as desktop:
        agent = agents.Agent(name="clerk", model=model, mcp_servers=[desktop])
        result = await agents.Runner.run(agent, task, max_turns=20)
        return result.final_output


class Scripted(agents.Model):
    """In place of a model's name, such as "gpt-5"."""

    async def get_response(self, system_instructions, input, *_, **__):
        outputs = [item["output"] for item in input if item.get("type") == "function_call_output"]
        answers = [output if isinstance(output, str) else output[0]["text"] for output in outputs]
        call = next_call(a_note(*sys.argv[1:]), answers)
        if call:
            output = ResponseFunctionToolCall(
                type="function_call",
                call_id=uuid.uuid4().hex,
                name=call[0],
                arguments=json.dumps(call[1]),
            )
        else:
            text = ResponseOutputText(type="output_text", text="done", annotations=[])
            output = ResponseOutputMessage(
                id="1", type="message", role="assistant", status="completed", content=[text]
            )
        return agents.ModelResponse(output=[output], usage=agents.Usage(), response_id=None)

    def stream_response(self, *_, **__):
        raise NotImplementedError


if __name__ == "__main__":
    agents.set_tracing_disabled(True)
    print(asyncio.run(run("Save a note", Scripted())))
