"""An OpenAI-compatible server on loopback that plays a fixed strategy: profile first, then hand in a kernel that is
chosen by the task. For tests of the integrations: the same model, whatever asks it. It ends with its `with`."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

FASTER_TRANSPOSE = """\
// launch: grid=(ceil(C/32), ceil(R/32)) block=(32, 8) shared=0
extern "C" __global__ void transpose(const float* x, float* y, int R, int C) {
    __shared__ float tile[32][33];
    int c = blockIdx.x * 32 + threadIdx.x, r0 = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        if (r0 + j < R && c < C) tile[threadIdx.y + j][threadIdx.x] = x[(size_t)(r0 + j) * C + c];
    __syncthreads();
    int col = blockIdx.y * 32 + threadIdx.x, row0 = blockIdx.x * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        if (row0 + j < C && col < R) y[(size_t)(row0 + j) * R + col] = tile[threadIdx.x][threadIdx.y + j];
}
"""
WRONG_SAXPY = """\
// launch: grid=(ceil(N/256)) block=(256)
extern "C" __global__ void saxpy(const float* x, float* y, float alpha, int N) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < N) y[i] = x[i];
}
"""


@dataclass
class ScriptedServer:
    """`kernels` is what to hand in, by the name of a kernel's function; `asked` counts requests."""

    kernels: Mapping[str, str]
    asked: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    def __post_init__(self) -> None:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                asked = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))))
                server.asked.append(asked)
                kind, body = _body(server.reply(asked), asked)
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01})

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    def reply(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """The message of the assistant, by how many it has written already."""
        said = [one for one in asked["messages"] if one["role"] == "assistant"]
        opening = " ".join(_text(one) for one in asked["messages"] if one["role"] in ("system", "user"))
        entry = next(name for name in self.kernels if f"void {name}(" in opening)
        names = [one["function"]["name"] for one in asked.get("tools", ())]
        if not said:
            return _call(_tool(names, "profile"), {})
        if len(said) == 1:
            given = {"kernel": self.kernels[entry], "cause": "uncoalesced_access"}
            return _call(_tool(names, "submit"), given)
        return {"role": "assistant", "content": "done"}

    def __enter__(self) -> ScriptedServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()


def _text(message: Mapping[str, Any]) -> str:
    content = message.get("content") or ""
    return content if isinstance(content, str) else " ".join(part.get("text", "") for part in content)


def _tool(names: list[str], wanted: str) -> str:
    """The tool as the framework calls it: with a prefix, or another ending."""
    found = [name for name in names if name == wanted or name.endswith(f"_{wanted}") or name.startswith(f"{wanted}_")]
    if not found:
        raise KeyError(f"no tool for {wanted} in {names}")
    return found[0]


def _call(name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": f"call_{name}", "type": "function", "function": function}],
    }


def _body(message: dict[str, Any], asked: Mapping[str, Any]) -> tuple[str, bytes]:
    """One JSON document, or the same as a stream."""
    reason = "tool_calls" if message.get("tool_calls") else "stop"
    usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
    whole = {"id": "chatcmpl-1", "created": 1, "model": asked.get("model", "scripted"), "usage": usage}
    if not asked.get("stream"):
        choice = {"index": 0, "message": message, "finish_reason": reason}
        document = {**whole, "object": "chat.completion", "choices": [choice]}
        return "application/json", json.dumps(document).encode()
    calls = [{"index": number, **call} for number, call in enumerate(message.get("tool_calls", ()))]
    delta = {**message, **({"tool_calls": calls} if calls else {})}
    parts = [
        {**whole, "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
        {**whole, "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]},
    ]
    text = "".join(f"data: {json.dumps(part)}\n\n" for part in parts) + "data: [DONE]\n\n"
    return "text/event-stream", text.encode()
