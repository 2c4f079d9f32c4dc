import { describe, expect, it } from "vitest";
import { closeLater } from "../helpers/closing.js";
import { eventually } from "../helpers/eventually.js";
import { answer, MASKED, request, SCORED, verify, WEBSOCKET } from "../helpers/messages.js";
import { MODES, startInMode } from "../helpers/modes.js";
import { startProxy } from "../helpers/proxy.js";
import { askMeanwhile, openClient } from "../helpers/raw-client.js";
import { startUpstream } from "../helpers/upstream.js";

// RFC 9112 §9.3.2: a client may send requests one behind the other without waiting for answers.

/** Is refused without the upstream. */
const NOT_HTTP = Buffer.from("NO REQUEST\r\n\r\n");

describe.each(MODES)("requests one behind the other, in mode %s", (mode) => {
  it("are served one after the other", async () => {
    const upstream = await startUpstream(() => undefined);
    const proxy = await startInMode(mode, upstream);
    const client = await openClient(proxy.url);
    client.write(Buffer.concat([verify(), verify(), request("GET", "/x")]));
    for (let n = 1; n <= 3; n += 1) {
      const { write } = await upstream.arrived(n);
      await askMeanwhile(proxy.url, 3, NOT_HTTP);
      expect(upstream.requests).toHaveLength(n);
      write(answer(SCORED));
      expect((await client.reply("POST")).text).toBe(SCORED);
    }
  });

  it("end with their client, and those that waited never reach the upstream", async () => {
    const upstream = await startUpstream(() => undefined);
    const proxy = await startInMode(mode, upstream);
    const client = await openClient(proxy.url);
    client.write(Buffer.concat([verify(), verify(), request("GET", "/x")]));
    await upstream.arrived(1);
    await eventually(() => expect(proxy.gate.inFlight()).toBe(3));
    client.destroy();
    await upstream.quiet();
    await proxy.nextLog("client_gone", 3);
    expect(proxy.gate.inFlight()).toBe(0);
    expect(upstream.requests).toHaveLength(1);
  });

  it("do not reach the upstream behind an answer that ends the connection", async () => {
    const upstream = await startUpstream(({ write, end }) => {
      write(answer(SCORED).subarray(0, -5));
      end();
    });
    const proxy = await startInMode(mode, upstream);
    const client = await openClient(proxy.url);
    client.write(Buffer.concat([request("GET", "/x"), verify(), verify()]));
    expect((await client.reply()).complete).toBe(false);
    await proxy.nextLog("client_gone", 3);
    expect(upstream.requests).toHaveLength(1);
  });

  it("stay with their client when they are very many, and each is answered", async () => {
    const many = 3000;
    const upstream = await startUpstream(async ({ received, whole, write }) => {
      await whole;
      if (received.target !== "/0") write(answer(received.target));
    });
    const proxy = await startInMode(mode, upstream);
    const client = await openClient(proxy.url);
    const padding = [["X-Padding", "x".repeat(2000)]] as const;
    for (let n = 0; n < many; n += 1) {
      client.write(request("POST", `/${n}`, { headers: padding, body: "{}" }));
    }
    const first = await upstream.arrived(1);
    await askMeanwhile(proxy.url, 20, NOT_HTTP);
    expect(proxy.gate.inFlight()).toBeLessThan(300);
    first.write(answer("/0"));
    for (let n = 0; n < many; n += 1) expect((await client.reply("POST")).text).toBe(`/${n}`);
  });
});

it.each([
  ["what is no request", "NO REQUEST\r\n\r\n", 400],
  ["a tunnel", "CONNECT host:1 HTTP/1.1\r\nHost: host:1\r\n\r\n", 405],
  ["a header of 70 kB", `GET / HTTP/1.1\r\nX: ${"x".repeat(70_000)}\r\n\r\n`, 431],
  ["a broken body", "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nno size\r\n", 400],
])("%s is refused behind the answer to an earlier request", async (_, asks, status) => {
  const upstream = await startUpstream(({ received, write }) => {
    if (received.target === "/other") write(answer("{}"));
  });
  const proxy = await startProxy(upstream, { maskedAsError: false });
  const client = await openClient(proxy.url);
  client.write(request("GET", "/first"));
  const first = await upstream.arrived(1);
  const text = "x".repeat(400_000);
  const bytes = answer(text);
  first.write(bytes.subarray(0, -200_000));
  await client.sees("xxx");
  client.write(asks);
  if (status !== 405) await proxy.nextLog("client_error");
  await askMeanwhile(proxy.url, 3, request("GET", "/other"));
  first.write(bytes.subarray(-200_000));
  expect((await client.reply()).text === text).toBe(true);
  expect((await client.reply()).status).toBe(status);
  await client.incoming.ended;
});

it("a body that breaks after its answer has begun ends the connection without another word", async () => {
  const upstream = await startUpstream(() => undefined);
  const proxy = await startProxy(upstream, { maskedAsError: false });
  const client = await openClient(proxy.url);
  client.write("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n");
  const { write, gone } = await upstream.arrived(1);
  write(answer("x".repeat(1000)).subarray(0, -500));
  await client.sees("xxx");
  client.write("no size\r\n");
  await gone;
  await client.incoming.ended;
  expect(client.incoming.bytes.toString()).toMatch(/x{500}$/);
});

const H2C = [
  ["Connection", "Upgrade, HTTP2-Settings"],
  ["Upgrade", "h2c"],
  ["HTTP2-Settings", "AAMAAABkAAQAAP__"],
] as const;

it.each([
  ["a declined upgrade", verify(H2C), answer(MASKED), "503 Masked"],
  [
    "a WebSocket",
    request("GET", "/ws", { headers: WEBSOCKET }),
    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
    "101 Switching",
  ],
])(
  "%s behind requests without an answer gets its own behind theirs",
  async (_, asks, says, line) => {
    const [one, two] = ["1".repeat(400_000), "2".repeat(400_000)];
    const upstream = await startUpstream(({ received, write }) => {
      if (received.target === "/other") write(answer("{}"));
      else if (received.target === "/second") write(answer(two));
      else if (received.target !== "/first") write(says);
    });
    const proxy = await startProxy(upstream);
    const client = await openClient(proxy.url);
    client.write(request("GET", "/first"));
    const first = await upstream.arrived(1);
    client.write(Buffer.concat([request("GET", "/second"), asks]));
    await askMeanwhile(proxy.url, 3, request("GET", "/other"));
    first.write(answer(one));
    expect((await client.reply()).text === one).toBe(true);
    expect((await client.reply()).text === two).toBe(true);
    expect((await client.reply("POST")).line).toContain(line);
  },
);

it.each([
  ["a declined upgrade", request("GET", "/x", { headers: H2C })],
  ["a WebSocket", request("GET", "/x", { headers: WEBSOCKET })],
  ["a tunnel", Buffer.from("CONNECT host:1 HTTP/1.1\r\nHost: host:1\r\n\r\n")],
  ["what is no request", Buffer.from("NO REQUEST\r\n\r\n")],
])(
  "a client that leaves while %s waits for its turn ends what it asked for before",
  async (_, asks) => {
    const upstream = await startUpstream(() => undefined);
    const proxy = await startProxy(upstream);
    const client = await openClient(proxy.url);
    client.write(verify());
    const { gone } = await upstream.arrived(1);
    client.write(asks);
    client.end();
    await gone;
    const other = await openClient(proxy.url);
    other.write(verify());
    const second = await upstream.arrived(2);
    other.write(asks);
    other.reset();
    await second.gone;
    expect(upstream.requests).toHaveLength(2);
  },
);

it.each([
  [
    "a declined WebSocket",
    request("GET", "/ws", { headers: WEBSOCKET }),
    answer("no", { status: 404, reason: "Not Found" }),
  ],
  [
    "a WebSocket",
    request("GET", "/ws", { headers: WEBSOCKET }),
    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
  ],
  ["a tunnel", Buffer.from("CONNECT host:1 HTTP/1.1\r\nHost: host:1\r\n\r\n"), ""],
])("%s behind replies that had no room ends with its client", async (_, asks, says) => {
  const upstream = await startUpstream(({ received, write }) => {
    if (received.target !== "/first") write(received.target === "/ws" ? says : answer("{}"));
  });
  const proxy = await startProxy(upstream);
  const client = await openClient(proxy.url);
  client.write(request("GET", "/first"));
  const first = await upstream.arrived(1);
  client.stall();
  const text = "x".repeat(20_000_000);
  first.write(answer(text));
  await askMeanwhile(proxy.url, 5, request("GET", "/other"));
  client.write(Buffer.concat([request("GET", "/second"), asks]));
  await askMeanwhile(proxy.url, 5, request("GET", "/other"));
  client.resume();
  expect((await client.reply()).text === text).toBe(true);
  expect((await client.reply()).text).toBe("{}");
  await client.sees("HTTP/1.1 ");
  client.destroy();
  await eventually(() => expect(proxy.gate.inFlight()).toBe(0));
  await upstream.quiet();
});

it("a hundred declined upgrades on one connection leave no listener behind", async () => {
  const warnings: Error[] = [];
  const warn = (warning: Error): void => void warnings.push(warning);
  process.on("warning", warn);
  closeLater(() => void process.off("warning", warn));
  const upstream = await startUpstream(answer(MASKED));
  const proxy = await startProxy(upstream);
  const client = await openClient(proxy.url);
  for (let round = 0; round < 100; round += 1) {
    client.write(verify(H2C));
    expect((await client.reply("POST")).status).toBe(503);
  }
  expect(warnings).toEqual([]);
});
