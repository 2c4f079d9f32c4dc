// Loaded into every Node program of a run by NODE_OPTIONS: makes of `maskgate serve` the mutant that PROGRAM_MUTANT names, and leaves the others alone.
import { openSync, unlinkSync } from "node:fs";
import http, { ServerResponse } from "node:http";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

const EVERY = 60;

/** Says yes once in so many times. */
function rarely() {
  let times = 0;
  return () => (times += 1) % EVERY === 0;
}

/** Puts `make(real)` in the place of a method. */
function replace(owner, name, make) {
  owner[name] = make(owner[name]);
}

const onHeader = (edit) => () =>
  replace(ServerResponse.prototype, "writeHead", (real) => {
    const now = rarely();
    return function writeHead(status, ...rest) {
      return edit.call(this, now, (next) => real.call(this, next, ...rest), status);
    };
  });

const onHeaders = (act) =>
  onHeader(function header(now, send, status) {
    if (now()) act.call(this);
    return send(status);
  });

const onRequest = (act) => () =>
  replace(http, "request", (real) => {
    const now = rarely();
    return (options) => act(now, real, options);
  });

const kept = [];

const MUTANTS = {
  "a mask let through as 200": onHeader((now, send, status) =>
    send(status === 503 && now() ? 200 : status),
  ),
  "an answer dropped": onHeaders(function drop() {
    this.destroy();
  }),
  "a byte altered": () =>
    replace(ServerResponse.prototype, "write", (real) => {
      const now = rarely();
      return function write(data, ...rest) {
        if (data?.length > 0 && Buffer.isBuffer(data) && now()) {
          const altered = Buffer.from(data);
          altered[altered.length >> 1] ^= 1;
          return real.call(this, altered, ...rest);
        }
        return real.call(this, data, ...rest);
      };
    }),
  "a request sent twice": onRequest((now, real, options) => {
    if (now()) {
      const again = real({ ...options, agent: false });
      again.on("error", () => undefined).end('{"responses_create_params":{}}');
    }
    return real(options);
  }),
  "an error inside": onRequest((now, real, options) => {
    if (now()) throw new Error("a defect");
    return real(options);
  }),
  "memory kept": onHeaders(() => kept.push(Buffer.alloc(5_000_000, 1))),
  "a socket kept": onHeaders(() => kept.push(createServer().listen(0, "127.0.0.1").unref())),
  "a file kept": onHeaders(() => {
    const name = join(tmpdir(), `maskgate-mutant-${process.pid}`);
    kept.push(openSync(name, "w"));
    unlinkSync(name);
  }),
  // From the third time on that the soak asks how it is: the first two are before the run.
  "an event loop held up": () => {
    const spin = (until = performance.now() + 30) => {
      while (performance.now() < until);
    };
    let asked = 0;
    process.on("SIGUSR2", () => {
      asked += 1;
      if (asked === 3) setInterval(spin, 40).unref();
    });
  },
  "an end with 3": () => process.on("exit", () => (process.exitCode = 3)),
  "no end": () => {
    process.exit = () => undefined;
    setInterval(() => undefined, 1_000);
  },
  "paths decoded": onRequest((_, real, options) =>
    real({ ...options, path: options.path.replaceAll(/%2f/gi, "/") }),
  ),
};

const name = process.env.PROGRAM_MUTANT;
if (name !== undefined && process.argv[1]?.endsWith("bin/maskgate.js")) {
  if (!Object.hasOwn(MUTANTS, name)) throw new Error(`no mutant "${name}"`);
  MUTANTS[name]();
}
