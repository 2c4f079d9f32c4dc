import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { connect, type Socket } from "node:net";
import { describe, expect, it } from "vitest";
import { closeLater } from "../helpers/closing.js";
import { eventually } from "../helpers/eventually.js";
import { startHttpUpstream } from "../helpers/http-upstream.js";
import { answer, chunk, MASKED, request, SCORED, verify } from "../helpers/messages.js";
import { MODES, startInMode } from "../helpers/modes.js";
import { startProgramInMode } from "../helpers/program.js";
import { openClient, rawRequest } from "../helpers/raw-client.js";
import { spillFiles } from "../helpers/spilled.js";
import { startUpstream } from "../helpers/upstream.js";

const half = request("POST", "/verify", { headers: [["Content-Length", "100000"]] });
const LARGE = `{"response":"${randomBytes(60_000).toString("base64")}","mask_sample":true}`;

/** When a client leaves: what it has sent, and what the upstream has answered until then. */
const MOMENTS: readonly (readonly [request: Buffer, answered: Buffer])[] = [
  [verify().subarray(0, 10), Buffer.alloc(0)],
  [Buffer.concat([half, Buffer.alloc(50_000)]), Buffer.alloc(0)],
  [verify(), Buffer.alloc(0)],
  [verify(), answer(LARGE).subarray(0, -9)],
  [request("GET", "/t"), answer(LARGE).subarray(0, -9)],
  [verify(), answer(LARGE)],
];

const handles = (): string[] =>
  process.getActiveResourcesInfo().filter((name) => !/Timeout|Immediate|Request|FSReq/.test(name));

describe.each(MODES)("in mode %s", (mode) => {
  it("500 clients that leave at any moment, by FIN or RST, leave nothing behind", async () => {
    let answered: Buffer = answer(SCORED);
    const upstream = await startUpstream(({ write }) => write(answered));
    const proxy = await startInMode(mode, upstream, "holdMemoryBytes: 10000");
    await rawRequest(proxy.url, request("GET", "/", { headers: [["Connection", "close"]] }));
    upstream.dropIdle();
    await upstream.quiet();
    const before = handles();
    for (let round = 0; round < 500; round += 1) {
      const [asks, says] = MOMENTS[round % MOMENTS.length]!;
      answered = says;
      const known = upstream.requests.length;
      const client = await openClient(proxy.url);
      client.write(asks);
      if (asks.length > 10) await (await upstream.arrived(known + 1)).flushed();
      if (round % 2 === 0) client.destroy();
      else client.reset();
    }
    upstream.dropIdle();
    await upstream.quiet();
    await eventually(() => expect(proxy.gate.inFlight()).toBe(0));
    await eventually(() => expect(spillFiles()).toEqual([]));
    await eventually(() => expect(handles().length).toBeLessThanOrEqual(before.length));
    answered = answer(MASKED);
    expect((await rawRequest(proxy.url, verify())).status).toBe(mode === "strict" ? 503 : 200);
  }, 60_000);

  it("a header and a body by the byte are served", async () => {
    const upstream = await startUpstream(answer(SCORED));
    const proxy = await startInMode(mode, upstream);
    const bytes = request("POST", "/verify", {
      body: '{"id":1}',
      headers: [["Transfer-Encoding", "chunked"]],
    });
    const framed = Buffer.concat([bytes.subarray(0, -8), chunk('{"id":1}'), chunk("")]);
    const client = await openClient(proxy.url);
    for (const byte of framed) {
      client.write(Buffer.from([byte]));
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect((await client.reply("POST")).text).toBe(SCORED);
    expect(upstream.requests.map(({ body }) => body.toString())).toEqual(['{"id":1}']);
  });

  it("a client that closes its sending side behind its request still gets its answer, or is gone", async () => {
    const upstream = await startUpstream(answer(SCORED));
    const proxy = await startInMode(mode, upstream);
    const client = await openClient(proxy.url);
    client.write(verify());
    client.end();
    await client.incoming.ended;
    const text = client.incoming.bytes.toString();
    expect(text === "" || text.endsWith(SCORED)).toBe(true);
    expect((await rawRequest(proxy.url, verify())).text).toBe(SCORED);
  });

  it("a hundred pipelined requests get their own answers in order", async () => {
    const upstream = await startUpstream(async ({ received, whole, write }) => {
      await whole;
      write(answer(`{"reward":1,"target":"${received.target}"}`));
    });
    const proxy = await startInMode(mode, upstream);
    const client = await openClient(proxy.url);
    const targets = Array.from({ length: 100 }, (_, n) => `/verify?${n}`);
    client.write(Buffer.concat(targets.map((target) => request("POST", target, { body: "{}" }))));
    for (const target of targets) {
      expect((await client.reply("POST")).text).toBe(`{"reward":1,"target":"${target}"}`);
    }
  });
});

/** The most memory that a process has used, in megabytes: Linux alone tells. */
const peakOf = (pid: number): number =>
  Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;

/** Does this again and again until it has come to the same a hundred times: what a proxy could take in, it has by then. */
async function atRest(step: () => Promise<string>): Promise<void> {
  let seen = "";
  for (let same = 0; same < 100; same += 1) {
    const now = await step();
    if (now !== seen) same = 0;
    seen = now;
  }
}

describe.runIf(process.platform === "linux").each(MODES)(
  "a client that reads 1 kB at a time of an answer of 200 MB (%s)",
  (mode) => {
    it("keeps memory where it was, and others are served", async () => {
      const piece = Buffer.alloc(1024 * 1024, "x");
      let left = 200;
      const { url } = await startHttpUpstream((asked, reply) => {
        if (asked.method === "HEAD") {
          reply.end();
          return;
        }
        reply.writeHead(200, { "content-length": left * piece.length + 2 });
        reply.write('"');
        const more = (): void => {
          while (left > 0) {
            left -= 1;
            if (!reply.write(piece)) return;
          }
          reply.end('"');
        };
        reply.on("drain", more);
        more();
      });
      const program = await startProgramInMode(mode, { url }, "holdMemoryBytes: 8000000");
      const peak = (): number => peakOf(program.child.pid!);
      const slow = await slowReader(program.url);
      const quick = await openClient(program.url);
      slow.socket.write(verify());
      await slow.read();
      await atRest(async () => {
        await slow.read();
        quick.write(request("HEAD", "/"));
        expect((await quick.reply("HEAD")).status).toBe(200);
        return `${left} ${peak()}`;
      });
      expect(peak()).toBeLessThan(200);
      slow.socket.destroy();
    }, 60_000);
  },
);

describe.runIf(process.platform === "linux").each(MODES)("an upload of 200 MB (%s)", (mode) => {
  it("to an upstream that reads none of it keeps memory where it was, and others are served", async () => {
    const { url } = await startHttpUpstream((asked, reply) => {
      if (asked.method === "HEAD") reply.end();
    });
    const program = await startProgramInMode(mode, { url });
    const uploading = httpRequest(`${program.url}/verify`, { method: "POST", agent: false });
    uploading.on("error", () => undefined);
    const piece = Buffer.alloc(1024 * 1024, "x");
    let left = 200;
    const more = (): void => {
      while (left > 0) {
        left -= 1;
        if (!uploading.write(piece)) return;
      }
    };
    uploading.on("drain", more);
    more();
    const quick = await openClient(program.url);
    await atRest(async () => {
      quick.write(request("HEAD", "/"));
      expect((await quick.reply("HEAD")).status).toBe(200);
      return `${left} ${peakOf(program.child.pid!)}`;
    });
    expect(peakOf(program.child.pid!)).toBeLessThan(200);
    uploading.destroy();
  }, 60_000);
});

/** A connection that is read a kilobyte at a time, and only when it is asked to. */
async function slowReader(url: string): Promise<{ socket: Socket; read(): Promise<void> }> {
  let came = (): void => undefined;
  const socket = connect({
    port: Number(new URL(url).port),
    host: "127.0.0.1",
    onread: {
      buffer: Buffer.alloc(1024),
      callback: () => {
        came();
        return false;
      },
    },
  });
  socket.on("error", () => undefined);
  closeLater(() => {
    socket.destroy();
  });
  await once(socket, "connect");
  const read = async (): Promise<void> =>
    new Promise((resolve) => {
      came = resolve;
      socket.resume();
    });
  return { socket, read };
}
