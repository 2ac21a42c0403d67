"""An npm registry on loopback that has the packages of a folder and nothing else."""

import base64
import hashlib
import json
import tarfile
import threading
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class NpmRegistry:
    def __init__(self, folder):
        self.packages = {}
        for path in folder.glob("*.tgz"):
            with tarfile.open(path) as tar:
                manifest = json.load(tar.extractfile("package/package.json"))
            self.packages[manifest["name"]] = (manifest, path)
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self.handler())
        self.address = f"http://127.0.0.1:{self.server.server_address[1]}"

    def document(self, name):
        manifest, path = self.packages[name]
        digest = base64.b64encode(hashlib.sha512(path.read_bytes()).digest()).decode()
        dist = {"tarball": f"{self.address}/-/{path.name}", "integrity": f"sha512-{digest}"}
        version = manifest["version"]
        return {"name": name, "dist-tags": {"latest": version}, "versions": {version: manifest | {"dist": dist}}}

    def handler(registry):
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                name = urllib.parse.unquote(self.path.split("?")[0].lstrip("/"))
                files = {f"-/{path.name}": path for _, path in registry.packages.values()}
                if name in files:
                    kind, body = "application/octet-stream", files[name].read_bytes()
                elif name in registry.packages:
                    kind, body = "application/json", json.dumps(registry.document(name)).encode()
                else:
                    self.send_error(404)
                    return
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        return Handler

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
