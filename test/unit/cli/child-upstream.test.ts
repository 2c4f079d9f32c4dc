import { describe, expect, it } from "vitest";
import { childUpstream } from "../../../src/cli/child-upstream.js";

const of = (line: string): string | undefined => childUpstream(line.split(" "));

describe("where a server will listen", () => {
  it.each([
    ["python -m server --port 9100", "http://127.0.0.1:9100"],
    ["python -m server --port=9100 --verbose", "http://127.0.0.1:9100"],
    ["uvicorn app:app -p 9100", "http://127.0.0.1:9100"],
    ["server --port 9100 --port 9101", "http://127.0.0.1:9101"],
    ["env -p x server --port 09100", "http://127.0.0.1:9100"],
    ["server --port 9100 --host 0.0.0.0", "http://127.0.0.1:9100"],
    ["server --host=:: --port 9100", "http://127.0.0.1:9100"],
    ["server --host ::1 --port 9100", "http://[::1]:9100"],
    ["server --host localhost --port 9100", "http://localhost:9100"],
    ["server --host 127.0.0.2 --port 9100", "http://127.0.0.2:9100"],
  ])("is read from %s", (line, url) => {
    expect(of(line)).toBe(url);
  });

  it.each([
    "python -m server",
    "server --port",
    "server --port http",
    "server --port 0",
    "server --port=",
    "server --report 9100",
    "server --portal=9100",
    "server 9100",
  ])("is not known from %s", (line) => {
    expect(of(line)).toBeUndefined();
  });
});
