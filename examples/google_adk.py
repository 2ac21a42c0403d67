"""Google's Agent Development Kit: Deskline is one of the agent's toolsets.

    python google_adk.py TEXT PATH
"""

import asyncio
import sys

from desktop import HEADERS, URL
from google.adk.agents import LlmAgent
from google.adk.models import BaseLlm, LlmResponse
from google.adk.runners import InMemoryRunner
from google.adk.tools.mcp_tool import McpToolset, StreamableHTTPConnectionParams
from google.genai import types
from scripted import a_note, next_call


async def run(task, model):
    """Carries out a task on the desktop of this handle."""
    connection = StreamableHTTPConnectionParams(url=URL, headers=HEADERS, timeout=60)
    desktop = McpToolset(connection_params=connection)
    agent = LlmAgent(name="clerk", model=model, tools=[desktop])
    runner = InMemoryRunner(agent)
    session = await runner.session_service.create_session(app_name=runner.app_name, user_id="ann")
    message = types.Content(role="user", parts=[types.Part(text=task)])
    said = ""
    async for event in runner.run_async(
        user_id="ann", session_id=session.id, new_message=message
    ):
        if event.is_final_response() and event.content:
            said = event.content.parts[0].text
    await runner.close()
    return said


class Scripted(BaseLlm):
    """In place of a model's name, such as "gemini-3.5-flash"."""

    async def generate_content_async(self, llm_request, stream=False):
        parts = [part for content in llm_request.contents for part in content.parts]
        results = [p.function_response.response for p in parts if p.function_response]
        answers = [result["content"][0]["text"] for result in results]
        call = next_call(a_note(*sys.argv[1:]), answers)
        part = types.Part(text="done")
        if call:
            part = types.Part(function_call=types.FunctionCall(name=call[0], args=call[1]))
        yield LlmResponse(content=types.Content(role="model", parts=[part]))


if __name__ == "__main__":
    print(asyncio.run(run("Save a note", Scripted(model="scripted"))))
