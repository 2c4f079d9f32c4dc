// http-proxy-middleware with its responseInterceptor.
import { createRequire } from "node:module";
import http from "node:http";
import { pathToFileURL } from "node:url";
import { maskedReply } from "./masked.mjs";

const require = createRequire(`${process.env.BENCH_MODULES}/x.js`);
const { createProxyMiddleware, responseInterceptor } = await import(
  pathToFileURL(require.resolve("http-proxy-middleware")).href
);
const [port, upstreamPort] = process.argv.slice(2).map(Number);
const middleware = createProxyMiddleware({
  target: `http://127.0.0.1:${upstreamPort}`,
  agent: new http.Agent({ keepAlive: true }),
  selfHandleResponse: true,
  on: {
    proxyRes: responseInterceptor(async (body, answer, _request, reply) => {
      const masked = answer.statusCode === 200 ? maskedReply(body) : undefined;
      if (masked === undefined) return body;
      reply.statusCode = 503;
      reply.setHeader("content-type", "application/problem+json");
      return masked;
    }),
  },
});
http
  .createServer((request, reply) => void middleware(request, reply, () => reply.destroy()))
  .listen({ port, host: "127.0.0.1", backlog: 4096 });
