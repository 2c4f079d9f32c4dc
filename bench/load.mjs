// The load of the bench: raw keep-alive sockets, each with one request in flight, and every byte of every answer compared with what it must be.
// Takes jobs over IPC, one at a time, and sends back what came of each.
import net from "node:net";
import { performance } from "node:perf_hooks";
import { answerBody, REQUEST_BODY } from "./answers.mjs";

/**
 * @typedef {object} Job
 * @property {number} port
 * @property {string} answer name of the answer to ask for
 * @property {number} connections
 * @property {number} warmMs not counted
 * @property {number} measureMs
 * @property {number} [minAnswers] go on until so many have come, warming aside
 * @property {number} [each] so many answers on each connection, and the end when all have come
 * @property {number} [giveUpMs] default: four times what is measured, and 20 s
 * @property {number} [delay] how long the upstream waits, in milliseconds
 * @property {number} [together] the upstream ends no answer before so many are nearly whole
 * @property {number} status what every answer's status must be
 * @property {boolean} sameBytes whether the body must be the upstream's own
 */

const OPENED_AT_ONCE = 200;

const shared = Buffer.allocUnsafe(1024 * 1024);
const bodies = new Map();
const bodyOf = (name) => {
  if (!bodies.has(name)) bodies.set(name, answerBody(name));
  return bodies.get(name);
};

/** One answer after another out of the bytes of a connection; throws at the first that is wrong. */
class AnswerReader {
  constructor(expected, { status, sameBytes }) {
    this.expected = sameBytes ? expected : undefined;
    this.status = status;
    this.headBytes = "";
    this.left = -1;
    this.at = 0;
    this.chunked = undefined;
  }

  /** Whether the answer is whole with these bytes. */
  take(bytes) {
    let from = 0;
    if (this.left < 0 && this.chunked === undefined) {
      const end = bytes.indexOf("\r\n\r\n", 0, "latin1");
      const split = this.headBytes !== "" || end < 0;
      if (split) {
        this.headBytes += bytes.latin1Slice(0, bytes.length);
        const splitEnd = this.headBytes.indexOf("\r\n\r\n");
        if (splitEnd < 0) return false;
        const all = Buffer.from(this.headBytes, "latin1");
        this.headBytes = "";
        this.#head(all.latin1Slice(0, splitEnd));
        return this.#body(all, splitEnd + 4);
      }
      this.#head(bytes.latin1Slice(0, end));
      from = end + 4;
    }
    return this.#body(bytes, from);
  }

  #head(head) {
    const status = Number(head.slice(9, 12));
    if (status !== this.status) throw new Error(`status ${status}: ${head.slice(0, 200)}`);
    const length = /\r\ncontent-length: *(\d+)/i.exec(head);
    this.at = 0;
    if (length !== null) this.left = Number(length[1]);
    else this.chunked = [];
  }

  #body(bytes, from) {
    if (this.chunked !== undefined) return this.#chunk(bytes.subarray(from));
    const size = bytes.length - from;
    if (size > this.left) throw new Error(`${size - this.left} bytes behind the answer's end`);
    this.#compare(bytes, from);
    this.left -= size;
    if (this.left > 0) return false;
    return this.#end();
  }

  #compare(bytes, from) {
    const to = this.at + bytes.length - from;
    if (
      this.expected !== undefined &&
      (to > this.expected.length ||
        this.expected.compare(bytes, from, bytes.length, this.at, to) !== 0)
    ) {
      throw new Error(`the body differs between byte ${this.at} and ${to}`);
    }
    this.at = to;
  }

  #chunk(bytes) {
    this.chunked.push(Buffer.from(bytes));
    if (bytes.length === 0 || bytes[bytes.length - 1] !== 0x0a) return false;
    const all = Buffer.concat(this.chunked);
    if (!all.subarray(-5).equals(Buffer.from("0\r\n\r\n"))) return false;
    for (let at = 0; ;) {
      const lineEnd = all.indexOf("\r\n", at, "latin1");
      const size = Number.parseInt(all.latin1Slice(at, lineEnd), 16);
      if (size === 0) break;
      this.#compare(all.subarray(lineEnd + 2, lineEnd + 2 + size), 0);
      at = lineEnd + 2 + size + 2;
      if (at >= all.length) return false;
    }
    return this.#end();
  }

  #end() {
    if (this.expected !== undefined && this.at !== this.expected.length) {
      throw new Error(`the body has ${this.at} bytes, not ${this.expected.length}`);
    }
    this.left = -1;
    this.chunked = undefined;
    return true;
  }
}

/** Runs a job to its end: resolves with counts, bytes, latencies in microseconds, and the first error where there was one. */
function run(job) {
  const { port, connections, warmMs, measureMs, minAnswers = 0, each, delay, together } = job;
  const giveUpMs = job.giveUpMs ?? measureMs * 4 + 20_000;
  const expected = bodyOf(job.answer);
  const request = Buffer.from(
    `POST /verify HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\naccept: */*\r\nconnection: keep-alive\r\nuser-agent: python-httpx/0.28.1\r\nx-answer: ${job.answer}\r\n${delay === undefined ? "" : `x-delay: ${delay}\r\n`}${together === undefined ? "" : `x-together: ${together}\r\n`}content-length: ${REQUEST_BODY.length}\r\ncontent-type: application/json\r\n\r\n${REQUEST_BODY}`,
  );
  return new Promise((resolve) => {
    const sockets = [];
    const latencies = [];
    let counting = false;
    let bytes = 0;
    let started = 0;
    let over = false;
    const finish = (error) => {
      if (over) return;
      over = true;
      const seconds = (performance.now() - started) / 1000;
      for (const socket of sockets) socket.destroy();
      latencies.sort((a, b) => a - b);
      const at = (share) =>
        latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))];
      resolve({
        answers: latencies.length,
        bytes,
        seconds,
        p50: at(0.5),
        p99: at(0.99),
        max: latencies.at(-1),
        error: error?.message,
      });
    };
    const due = () =>
      each === undefined
        ? counting && performance.now() - started >= measureMs && latencies.length >= minAnswers
        : latencies.length === each * connections;

    const open = () => {
      const reader = new AnswerReader(expected, job);
      let sent = 0;
      let answers = 0;
      const socket = net.connect({
        port,
        host: "127.0.0.1",
        noDelay: true,
        onread: {
          buffer: shared,
          callback: (size, buffer) => {
            if (counting) bytes += size;
            try {
              if (!reader.take(size === buffer.length ? buffer : buffer.subarray(0, size))) {
                if (due()) finish();
                return !over;
              }
            } catch (error) {
              finish(error);
              return false;
            }
            const now = performance.now();
            if (counting) latencies.push((now - sent) * 1000);
            if (due()) {
              finish();
              return false;
            }
            answers += 1;
            if (answers === each) return true;
            sent = now;
            socket.write(request);
            return true;
          },
        },
      });
      sockets.push(socket);
      socket.on("connect", () => {
        sent = performance.now();
        socket.write(request);
      });
      socket.on("error", (error) => finish(error));
      socket.on("close", () => {
        if (answers !== each) finish(new Error("the connection was closed"));
      });
    };
    const startCounting = () => {
      counting = true;
      started = performance.now();
      process.send({ counting: true });
    };
    if (warmMs === 0) startCounting();
    else setTimeout(startCounting, warmMs);
    // No listener's queue holds thousands.
    const openSome = (opened) => {
      const next = Math.min(connections, opened + OPENED_AT_ONCE);
      for (let n = opened; n < next; n++) open();
      if (next < connections) setTimeout(openSome, 5, next);
    };
    openSome(0);
    setTimeout(() => {
      const tooFew = latencies.length < (each === undefined ? minAnswers : each * connections);
      finish(tooFew ? new Error(`given up after ${latencies.length} answers`) : undefined);
    }, warmMs + giveUpMs);
  });
}

process.on("message", (job) => {
  void run(job).then((result) => process.send(result));
});
process.on("disconnect", () => process.exit(0));
