"""FastAPI in front, httpx behind: the answer is read whole, parsed, and sent or translated."""

import sys
from contextlib import asynccontextmanager

import httpx
import uvicorn
from fastapi import FastAPI, Request, Response
from masked import HOP_BY_HOP, masked_body

port, upstream_port = int(sys.argv[1]), int(sys.argv[2])


@asynccontextmanager
async def lifespan(app: FastAPI):
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)
    async with httpx.AsyncClient(limits=limits, timeout=None, trust_env=False) as client:
        app.state.client = client
        yield


app = FastAPI(lifespan=lifespan)


@app.api_route("/{path:path}", methods=["GET", "POST"])
async def proxy(path: str, request: Request) -> Response:
    headers = [(k, v) for k, v in request.headers.items() if k.lower() not in HOP_BY_HOP]
    answer = await request.app.state.client.request(
        request.method,
        f"http://127.0.0.1:{upstream_port}{request.url.path}",
        headers=headers,
        content=await request.body(),
    )
    masked = masked_body(answer.content) if answer.status_code == 200 else None
    if masked is not None:
        return Response(status_code=503, content=masked, media_type="application/problem+json")
    kept = {k: v for k, v in answer.headers.items() if k.lower() not in HOP_BY_HOP}
    return Response(status_code=answer.status_code, content=answer.content, headers=kept)


uvicorn.run(app, host="127.0.0.1", port=port, log_level="error", backlog=4096)
