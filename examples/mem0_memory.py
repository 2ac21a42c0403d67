"""Mem0: what one run learns about an app, a later run on another desktop knows.

    python mem0_memory.py FOLDER PATH

What is remembered are Deskline's texts: roles and names, which hold on every desktop. Refs belong
to one desktop and are not worth remembering.
"""

import asyncio
import os
import re
import sys
import zlib

os.environ |= {"MEM0_TELEMETRY": "False", "MEM0_DIR": sys.argv[1]}

from desktop import connect, text
from mem0 import Memory
from mem0.embeddings.base import EmbeddingBase
from scripted import a_memory, next_call

USER = {"user_id": "ann"}


def memory(folder):
    """Mem0 with a local store. No model of its own is called."""
    vectors = {"path": f"{folder}/vectors", "on_disk": True, "embedding_model_dims": 256}
    made = Memory.from_config(
        {
            "vector_store": {"provider": "qdrant", "config": vectors},
            "history_db_path": f"{folder}/history.db",
            "llm": {"provider": "openai", "config": {"api_key": "unused"}},
            "embedder": {"provider": "openai", "config": {"api_key": "unused"}},
        }
    )
    made.embedding_model = Words()
    return made


class Words(EmbeddingBase):
    """In place of an embedder such as OpenAI's: counts words."""

    def embed(self, text, memory_action=None):
        vector = [0.0] * 256
        for word in re.findall(r"\w+", text.lower()):
            vector[zlib.crc32(word.encode()) % 256] += 1.0
        return vector


async def run(task, model, remembered):
    """Carries out a task, with what earlier runs have remembered about it."""
    found = remembered.search(task, filters=USER, top_k=3)["results"]
    known = "\n".join(each["memory"] for each in found)
    answers = []
    async with connect() as desktop:
        while call := model(known, answers):
            name, arguments = call
            print(name, flush=True)
            if name == "remember":
                # Store the text unchanged: with `infer=True`, Mem0 would let its own model reword
                # it.
                remembered.add(arguments["text"], infer=False, **USER)
                answers.append("status: success")
            else:
                answers.append(text(await desktop.call_tool(name, arguments)))


def scripted(known, answers):
    """In place of a model, which has `remember` as one more tool: the next call, or None."""
    return next_call(a_memory(sys.argv[2], known), answers)


if __name__ == "__main__":
    asyncio.run(run("Enter Ann's telephone in the form", scripted, memory(sys.argv[1])))
    print("done")
