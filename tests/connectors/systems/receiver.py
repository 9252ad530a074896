"""A program that receives webhooks: ``python receiver.py FOLDER PORT [CERT KEY]``.

It writes each request as a line into ``taken.jsonl``, but each key only once, also after it was
killed. The numbers in ``answers`` are what it answers next; else it answers 200.
"""

import json
import ssl
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

FOLDER = Path(sys.argv[1]) if __name__ == "__main__" else Path()
TAKEN, ANSWERS = FOLDER / "taken.jsonl", FOLDER / "answers"


def keys() -> set[str]:
    lines = TAKEN.read_text().splitlines() if TAKEN.exists() else []
    return {json.loads(line)["key"] for line in lines}


class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        answers = ANSWERS.read_text().split() if ANSWERS.exists() else []
        status = int(answers.pop(0)) if answers else 200
        ANSWERS.write_text(" ".join(answers))
        key = f"{self.path} {self.headers['Idempotency-Key']}"
        if status == 200 and key not in keys():
            line = {"path": self.path, "key": key, "body": body, "headers": dict(self.headers)}
            with TAKEN.open("a") as file:
                file.write(json.dumps(line) + "\n")
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2])), Receiver)
    if len(sys.argv) > 3:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(sys.argv[3], sys.argv[4])
        server.socket = context.wrap_socket(server.socket, server_side=True)
    server.serve_forever()
