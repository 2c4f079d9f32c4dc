// http-proxy-3 with selfHandleResponse: the answer is gathered, parsed, and sent or translated.
import http from "node:http";
import { createProxyServer } from "http-proxy-3";
import { maskedReply } from "./masked.mjs";

const [port, upstreamPort] = process.argv.slice(2).map(Number);
const agent = new http.Agent({ keepAlive: true });
const proxy = createProxyServer({
  target: `http://127.0.0.1:${upstreamPort}`,
  agent,
  selfHandleResponse: true,
});
proxy.on("error", (_error, _request, reply) => reply.destroy());
proxy.on("proxyRes", (answer, _request, reply) => {
  const chunks = [];
  answer.on("data", (chunk) => chunks.push(chunk));
  answer.on("end", () => {
    const body = Buffer.concat(chunks);
    const masked = answer.statusCode === 200 ? maskedReply(body) : undefined;
    if (masked === undefined) {
      reply.writeHead(answer.statusCode, { ...answer.headers, connection: "keep-alive" }).end(body);
    } else {
      const headers = {
        "content-type": "application/problem+json",
        "content-length": masked.length,
      };
      reply.writeHead(503, headers).end(masked);
    }
  });
});
http
  .createServer((request, reply) => proxy.web(request, reply))
  .listen({ port, host: "127.0.0.1", backlog: 4096 });
