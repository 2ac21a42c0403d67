"""Pydantic AI: Deskline's tools are one of the agent's toolsets.

    python pydantic_ai_agent.py TEXT PATH
"""

import asyncio
import sys

from desktop import HEADERS, URL
from pydantic_ai import Agent
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import FunctionModel
from scripted import a_note, next_call


async def run(task, model):
    """Carries out a task on the desktop of this handle."""
    agent = Agent(model, toolsets=[MCPToolset(URL, headers=HEADERS)])
    async with agent:
        result = await agent.run(task)
        return result.output


def scripted(messages, _):
    """In place of a model's name, such as "anthropic:claude-sonnet-5"."""
    parts = [part for message in messages for part in message.parts]
    answers = [str(part.content) for part in parts if isinstance(part, ToolReturnPart)]
    call = next_call(a_note(*sys.argv[1:]), answers)
    return ModelResponse(parts=[ToolCallPart(*call) if call else TextPart("done")])


if __name__ == "__main__":
    print(asyncio.run(run("Save a note", FunctionModel(scripted))))
