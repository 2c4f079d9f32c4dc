// http-proxy-3 as it is: plain forwarding.
import http from "node:http";
import { createProxyServer } from "http-proxy-3";

const [port, upstreamPort] = process.argv.slice(2).map(Number);
const agent = new http.Agent({ keepAlive: true });
const proxy = createProxyServer({ target: `http://127.0.0.1:${upstreamPort}`, agent });
proxy.on("error", (_error, _request, reply) => reply.destroy());
http
  .createServer((request, reply) => proxy.web(request, reply))
  .listen({ port, host: "127.0.0.1", backlog: 4096 });
