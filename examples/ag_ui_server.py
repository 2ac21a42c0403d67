"""AG-UI: a run's events go to its client as they happen, and the screen is the shared state.

    python ag_ui_server.py TEXT PATH   (prints the port that it listens on)

The state is {"screen": {"app", "summary", "changes", "picture"}}: a snapshot at first, then deltas
(JSON Patch). The picture is a data URI; a client that draws none takes only the texts.
"""

import asyncio
import json
import socket
import sys
import uuid

import jsonpatch
import uvicorn
from ag_ui import core
from ag_ui.encoder import EventEncoder
from desktop import connect, text
from scripted import a_note, field, next_call
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import Route


async def screen(desktop, answer):
    """The screen after an answer."""
    shown = await desktop.call_tool("view_screenshot", {})
    pictures = [part for part in shown.content if part.type == "image"]
    return {
        "app": field(answer, "app"),
        "summary": field(answer, "summary"),
        "changes": [line for line in answer.splitlines() if line.startswith("  ")],
        "picture": f"data:{pictures[0].mime_type};base64,{pictures[0].data}" if pictures else None,
    }


async def run(request, model):
    """The events of a run."""
    ids = {"thread_id": request.thread_id, "run_id": request.run_id}
    state, answers = {"screen": None}, []
    yield core.RunStartedEvent(**ids)
    yield core.StateSnapshotEvent(snapshot=state)
    async with connect() as desktop:
        while call := model(request.messages, answers):
            name, arguments = call
            of_call = {"tool_call_id": uuid.uuid4().hex}
            yield core.ToolCallStartEvent(tool_call_name=name, **of_call)
            yield core.ToolCallArgsEvent(delta=json.dumps(arguments), **of_call)
            yield core.ToolCallEndEvent(**of_call)
            result = await desktop.call_tool(name, arguments)
            answers.append(text(result))
            message = uuid.uuid4().hex
            yield core.ToolCallResultEvent(message_id=message, content=answers[-1], **of_call)
            if result.is_error:
                yield core.RunErrorEvent(message=answers[-1])
                return
            seen = {"screen": await screen(desktop, answers[-1])}
            yield core.StateDeltaEvent(delta=jsonpatch.make_patch(state, seen).patch)
            state = seen
    yield core.RunFinishedEvent(**ids)


def scripted(_messages, answers):
    """In place of a model: the next call, or None at the end."""
    return next_call(a_note(*sys.argv[1:]), answers)


async def agent(request: Request):
    wanted = core.RunAgentInput.model_validate_json(await request.body())
    encoder = EventEncoder()

    async def lines():
        async for event in run(wanted, scripted):
            yield encoder.encode(event)

    return StreamingResponse(lines(), media_type=encoder.get_content_type())


if __name__ == "__main__":
    app = Starlette(routes=[Route("/", agent, methods=["POST"])])
    listener = socket.create_server(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
    asyncio.run(server.serve([listener]))
