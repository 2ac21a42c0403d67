"""Passes requests on to a server on loopback, with its token: for a client that cannot send one.

    python with_token.py PORT   (the token is in DESKLINE_TOKEN; prints the port that it listens on)
"""

import http.client
import http.server
import os
import sys

TO = f"127.0.0.1:{sys.argv[1]}"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def pass_on(self):
        here = f":{self.server.server_port}"
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        headers = {name.title(): value for name, value in self.headers.items()}
        headers.pop("Content-Length", None)
        headers["Authorization"] = f"Bearer {os.environ['DESKLINE_TOKEN']}"
        for name in ("Host", "Origin"):
            if headers.get(name, "").endswith(here):
                headers[name] = headers[name].replace(here, TO[TO.index(":"):])
        connection = http.client.HTTPConnection(TO, timeout=60)
        connection.request(self.command, self.path, body or None, headers)
        answer = connection.getresponse()
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in ("transfer-encoding", "content-length", "date", "server"):
                self.send_header(name, value)
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        try:
            while data := answer.read1(65536):
                self.wfile.write(data)
                self.wfile.flush()
        except BrokenPipeError:
            pass

    do_GET = do_POST = do_DELETE = pass_on

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
