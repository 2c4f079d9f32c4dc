import { describe, expect, it } from "vitest";
import { endToEnd, type Field } from "../helpers/http-bytes.js";
import { answer, MASKED, request, SCORED, verify } from "../helpers/messages.js";
import { startProxy } from "../helpers/proxy.js";
import { openClient } from "../helpers/raw-client.js";
import { startUpstream } from "../helpers/upstream.js";

const bare = (line: string, fields: readonly Field[]): string =>
  `${line}\r\n${fields.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n`;

// A22: one kept connection, an answer without a body after the other, and a whole one behind them.
const STEPS: readonly (readonly [Buffer, string, string, readonly Field[]])[] = [
  [
    request("HEAD", "/verify"),
    "HEAD",
    "HTTP/1.1 200 OK",
    [
      ["content-length", "4242"],
      ["content-type", "application/json"],
    ],
  ],
  [
    request("HEAD", "/"),
    "HEAD",
    "HTTP/1.1 405 Method Not Allowed",
    [
      ["content-length", "31"],
      ["allow", "GET"],
    ],
  ],
  [request("HEAD", "/chunked"), "HEAD", "HTTP/1.1 200 OK", [["X-Without", "any length"]]],
  [
    request("HEAD", "/coded"),
    "HEAD",
    "HTTP/1.1 200 OK",
    [
      ["content-encoding", "gzip"],
      ["content-length", "20"],
    ],
  ],
  [
    request("DELETE", "/mcp"),
    "DELETE",
    "HTTP/1.1 204 No Content",
    [
      ["content-encoding", "gzip"],
      ["x-a", "1"],
    ],
  ],
  [verify(), "POST", "HTTP/1.1 204 No Content", [["content-encoding", "gzip"]]],
  [
    request("GET", "/cached"),
    "GET",
    "HTTP/1.1 304 Not Modified",
    [
      ["content-length", "100"],
      ["etag", '"x"'],
    ],
  ],
  [verify(), "POST", "HTTP/1.1 304 Not Modified", [["content-length", "100"]]],
  [verify(), "POST", "HTTP/1.1 200 OK", [["content-length", "0"]]],
  [
    request("POST", "/mcp", { body: "{}" }),
    "POST",
    "HTTP/1.1 202 Accepted",
    [["content-length", "0"]],
  ],
];

describe.each([true, false])("with strict mode %s", (maskedAsError) => {
  it("passes answers without a body, and stays in step", async () => {
    const upstream = await startUpstream(async ({ received, whole, write }) => {
      await whole;
      const step = STEPS[upstream.requests.indexOf(received)];
      write(step === undefined ? answer(SCORED) : bare(step[2], step[3]));
    });
    const proxy = await startProxy(upstream, { maskedAsError });
    const client = await openClient(proxy.url);
    for (const [bytes, method, line, fields] of STEPS) {
      client.write(bytes);
      const reply = await client.reply(method);
      expect(reply.line).toBe(line);
      expect(endToEnd(reply.fields)).toEqual(fields);
      expect(reply.body.length).toBe(0);
      expect(client.incoming.length).toBe(0);
    }
    client.write(verify());
    expect((await client.reply("POST")).text).toBe(SCORED);
    expect(upstream.requests).toHaveLength(STEPS.length + 1);
  });
});

it("passes HEAD on the verify path, even where GET would be masked", async () => {
  const upstream = await startUpstream(answer("", { headers: [["x-body", MASKED.slice(0, 20)]] }));
  const proxy = await startProxy(upstream);
  const client = await openClient(proxy.url);
  client.write(request("HEAD", "/verify"));
  expect((await client.reply("HEAD")).status).toBe(200);
});
