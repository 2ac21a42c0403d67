"""Where the desktop is, and a client of the official SDK for what has none of its own.

DESKLINE_URL and DESKLINE_TOKEN are the server's; DESKLINE_HANDLE chooses the desktop.
"""

import os
import secrets

from mcp import Client
from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client

# A desktop with a handle outlives the client, and clients of the newest protocol need one.
HANDLE = os.environ.get("DESKLINE_HANDLE") or secrets.token_hex(16)
URL = os.environ.get("DESKLINE_URL", "http://127.0.0.1:8765/mcp")
HEADERS = {"Authorization": f"Bearer {os.environ.get('DESKLINE_TOKEN', '')}", "Deskline-Handle": HANDLE}


def connect():
    """A client, to be entered by `async with`."""
    http = create_mcp_http_client(headers=HEADERS)
    return Client(streamable_http_client(URL, http_client=http))


def text(result):
    """The text of a tool's answer."""
    return "\n".join(part.text for part in result.content if part.type == "text")
