"""aiohttp on both sides: the answer is read whole, parsed, and sent or translated."""

import sys

from aiohttp import ClientSession, ClientTimeout, TCPConnector, web
from masked import HOP_BY_HOP, masked_body

port, upstream_port = int(sys.argv[1]), int(sys.argv[2])


async def proxy(request: web.Request) -> web.Response:
    session: ClientSession = request.app["session"]
    headers = {k: v for k, v in request.headers.items() if k.lower() not in HOP_BY_HOP}
    async with session.request(
        request.method,
        f"http://127.0.0.1:{upstream_port}{request.rel_url}",
        headers=headers,
        data=await request.read(),
    ) as answer:
        body = await answer.read()
        masked = masked_body(body) if answer.status == 200 else None
        if masked is not None:
            return web.Response(status=503, body=masked, content_type="application/problem+json")
        kept = {k: v for k, v in answer.headers.items() if k.lower() not in HOP_BY_HOP}
        return web.Response(status=answer.status, body=body, headers=kept)


async def session(app: web.Application):
    connector = TCPConnector(limit=0)
    timeout = ClientTimeout(total=None)
    async with ClientSession(connector=connector, timeout=timeout, auto_decompress=False) as opened:
        app["session"] = opened
        yield


app = web.Application(client_max_size=1 << 30)
app.cleanup_ctx.append(session)
app.router.add_route("*", "/{path:.*}", proxy)
web.run_app(app, host="127.0.0.1", port=port, access_log=None, print=None, backlog=4096)
