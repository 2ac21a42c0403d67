"""LangGraph: a run that is killed goes on in a new process, from its checkpoint.

    python langgraph_resume.py CHECKPOINTS THREAD PATH

CHECKPOINTS is a file of SQLite or the address of a Postgres server. The desktop belongs to
DESKLINE_HANDLE and outlives this process; the checkpoint holds the pid, the refs and the files. A
call that was under way is done again, so the agent sets values and presses once, by ref.
"""

import asyncio
import sys
from contextlib import asynccontextmanager

from desktop import connect, text
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import StructuredTool
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from scripted import a_form, next_call


@asynccontextmanager
async def checkpoints(where):
    saver = AsyncPostgresSaver if where.startswith("postgresql:") else AsyncSqliteSaver
    async with saver.from_conn_string(where) as opened:
        await opened.setup()
        yield opened


async def run(task, model, where, thread):
    """Begins a thread's run, or goes on with it."""
    async with connect() as desktop, checkpoints(where) as saver:
        listed = (await desktop.list_tools()).tools
        app = graph(model, [tool(desktop, each) for each in listed], saver)
        config = {"configurable": {"thread_id": thread}}
        begun = (await app.aget_state(config)).values
        messages = None if begun else {"messages": [("user", task)]}
        # "sync": each answer is on disk before the next call.
        state = await app.ainvoke(messages, config, durability="sync")
        return state["messages"][-1].content


def tool(desktop, listed):
    """A tool of LangChain. With the MCP SDK before 2.0, `langchain-mcp-adapters` makes them."""

    async def call(**arguments):
        print(listed.name, flush=True)
        return text(await desktop.call_tool(listed.name, arguments))

    return StructuredTool(
        name=listed.name,
        description=listed.description,
        args_schema=listed.input_schema,
        coroutine=call,
    )


def graph(model, tools, saver):
    model = model.bind_tools(tools)

    async def agent(state):
        return {"messages": [await model.ainvoke(state["messages"])]}

    made = StateGraph(MessagesState)
    made.add_node("agent", agent)
    made.add_node("tools", ToolNode(tools))
    made.add_edge(START, "agent")
    made.add_conditional_edges("agent", tools_condition)
    made.add_edge("tools", "agent")
    return made.compile(checkpointer=saver)


class Scripted(BaseChatModel):
    """In place of a chat model such as `ChatAnthropic(model="claude-sonnet-5")`."""

    _llm_type = "scripted"

    def bind_tools(self, tools, **_):
        return self

    def _generate(self, messages, *_, **__):
        answers = [str(m.text) for m in messages if isinstance(m, ToolMessage)]
        call = next_call(a_form(sys.argv[3]), answers)
        message = AIMessage("done")
        if call:
            calls = [{"name": call[0], "args": call[1], "id": f"call-{len(answers)}"}]
            message = AIMessage("", tool_calls=calls)
        return ChatResult(generations=[ChatGeneration(message=message)])


if __name__ == "__main__":
    print(asyncio.run(run("Fill in the form", Scripted(), *sys.argv[1:3])))
