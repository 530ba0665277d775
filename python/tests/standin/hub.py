"""As much of the Hugging Face Hub as publishing and loading a model needs, in memory, on localhost."""

import base64
import hashlib
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

COMMIT = "a" * 40


class Handler(BaseHTTPRequestHandler):
    """Answers one request."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        path = urlsplit(self.path).path
        address = f"http://127.0.0.1:{self.server.server_port}"
        if path == "/api/repos/create":
            asked = json.loads(body)
            name = f"{asked['organization']}/{asked['name']}"
            return self.answer({"url": f"{address}/{name}", "name": name})
        if path.endswith("/preupload/main"):
            # Every file is small enough to be part of the commit.
            files = [file["path"] for file in json.loads(body)["files"]]
            return self.answer(
                {"files": [{"path": file, "uploadMode": "regular", "shouldIgnore": False} for file in files]}
            )
        if path.endswith("/commit/main"):
            for line in map(json.loads, body.splitlines()):
                if line["key"] == "file":
                    self.server.files[line["value"]["path"]] = base64.b64decode(line["value"]["content"])
            return self.answer({"commitUrl": f"{address}/someone/birds/commit/{COMMIT}", "commitOid": COMMIT})
        return self.answer({})

    def do_GET(self):
        path = urlsplit(self.path).path
        content = self.server.files.get(path.rpartition("/")[2])
        if "/resolve/" not in path:
            return self.answer({"id": "someone/birds", "sha": COMMIT, "siblings": []})
        if content is None:
            self.send_response(404)
            self.send_header("X-Error-Code", "EntryNotFound")
            self.send_header("X-Repo-Commit", COMMIT)
            self.send_header("Content-Length", "0")
            return self.end_headers()
        return self.send(content, "application/octet-stream")

    do_HEAD = do_GET

    def answer(self, value):
        self.send(json.dumps(value).encode(), "application/json")

    def send(self, content, kind):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("ETag", f'"{hashlib.sha1(content).hexdigest()}"')
        self.send_header("X-Repo-Commit", COMMIT)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def log_message(self, *_):
        """Nothing."""


def started():
    """A server, and the files that were published there."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.files = {}
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server
