"""A small MCP client over standard input and output, with time limits."""

import json
import select
import subprocess
import time

LIMIT = 60


class Client:
    def __init__(self, command, env=None):
        self.server = subprocess.Popen(
            list(map(str, command)), stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env
        )
        self.buffer = b""
        self.id = 0
        self.initialized = self.ask(
            "initialize",
            protocolVersion="2025-06-18",
            capabilities={},
            clientInfo={"name": "packaging", "version": "1"},
        )
        self.send({"method": "notifications/initialized"})

    def send(self, message):
        self.server.stdin.write(json.dumps({"jsonrpc": "2.0"} | message).encode() + b"\n")
        self.server.stdin.flush()

    def ask(self, method, **params):
        self.id += 1
        self.send({"id": self.id, "method": method, "params": params})
        deadline = time.monotonic() + LIMIT
        while True:
            while b"\n" not in self.buffer:
                left = deadline - time.monotonic()
                if left <= 0 or not select.select([self.server.stdout], [], [], left)[0]:
                    raise TimeoutError(f"{method}: no answer within {LIMIT} s")
                read = self.server.stdout.read1(1 << 16)
                if not read:
                    raise EOFError(f"{method}: the server ended with {self.server.wait(LIMIT)}")
                self.buffer += read
            line, self.buffer = self.buffer.split(b"\n", 1)
            message = json.loads(line)
            if message.get("id") == self.id:
                if "error" in message:
                    raise ValueError(f"{method}: {message['error']}")
                return message["result"]

    def call(self, tool, **arguments):
        result = self.ask("tools/call", name=tool, arguments=arguments)
        return "".join(part.get("text", "") for part in result["content"]), result.get("isError", False)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        """Ends the server as clients do: by closing its input."""
        self.server.stdin.close()
        try:
            self.server.wait(20)
        finally:
            self.server.kill()
            self.server.stdout.close()
