// The upstream of the bench: raw sockets and answers made beforehand, so that it costs as little as it can.
// The request names its answer in `x-answer`, and in `x-delay` how many milliseconds to wait. With `x-together: N` the last bytes of an answer are kept
// until N answers have got that far. Sends its port over IPC, and `{ together: N }` when N of them are let go.
import net from "node:net";
import { ANSWERS, answerBody } from "./answers.mjs";

const EMPTY = Buffer.alloc(0);
const OK = Buffer.from(
  "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 2\r\n\r\nok",
);
const whole = new Map();

function wholeAnswer(name) {
  let made = whole.get(name);
  if (made === undefined) {
    const body = answerBody(name);
    const head = `HTTP/1.1 200 OK\r\ndate: Mon, 30 Nov 2026 00:39:28 GMT\r\nserver: uvicorn\r\ncontent-length: ${body.length}\r\ncontent-type: application/json\r\n\r\n`;
    made = Buffer.concat([Buffer.from(head), body]);
    whole.set(name, made);
  }
  return made;
}

/** How long the request at the beginning of these bytes is: undefined while it is not whole. */
function requestLength(bytes, head, headEnd) {
  const bodyStart = headEnd + 4;
  const length = /\r\ncontent-length: *(\d+)/i.exec(head);
  if (length !== null) {
    const end = bodyStart + Number(length[1]);
    return end <= bytes.length ? end : undefined;
  }
  if (!/\r\ntransfer-encoding: *chunked/i.test(head)) return bodyStart;
  const end = bytes.indexOf("0\r\n\r\n", bodyStart, "latin1");
  return end < 0 ? undefined : end + 5;
}

const LAST_BYTES = 9;
let kept = [];

/** Sends all but the end of an answer, and the end once `count` answers are that far. */
function answerTogether(socket, answer, count) {
  socket.write(answer.subarray(0, -LAST_BYTES), () => {
    kept.push(() => socket.destroyed || socket.write(answer.subarray(-LAST_BYTES)));
    if (kept.length < count) return;
    const ready = kept;
    kept = [];
    process.send({ together: ready.length });
    for (const finish of ready) finish();
  });
}

const server = net.createServer({ noDelay: true }, (socket) => {
  let waiting = EMPTY;
  socket.on("error", () => socket.destroy());
  socket.on("data", (chunk) => {
    waiting = waiting.length === 0 ? chunk : Buffer.concat([waiting, chunk]);
    while (waiting.length > 0) {
      const headEnd = waiting.indexOf("\r\n\r\n", 0, "latin1");
      if (headEnd < 0) return;
      const head = waiting.latin1Slice(0, headEnd);
      const length = requestLength(waiting, head, headEnd);
      if (length === undefined) return;
      waiting = length === waiting.length ? EMPTY : waiting.subarray(length);
      const name = /\r\nx-answer: *([\w-]+)/i.exec(head)?.[1];
      const answer = name !== undefined && name in ANSWERS ? wholeAnswer(name) : OK;
      const delay = Number(/\r\nx-delay: *(\d+)/i.exec(head)?.[1] ?? 0);
      const together = Number(/\r\nx-together: *(\d+)/i.exec(head)?.[1] ?? 0);
      if (together > 0) answerTogether(socket, answer, together);
      else if (delay === 0) socket.write(answer);
      else setTimeout(() => socket.destroyed || socket.write(answer), delay);
    }
  });
});
server.listen({ port: 0, host: "127.0.0.1", backlog: 16_384 }, () => {
  process.send({ port: server.address().port });
});
process.on("disconnect", () => process.exit(0));
