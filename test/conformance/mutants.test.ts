import { describe, expect, test } from "vitest";
import { type Name, runWith } from "./mutants/run.js";
import { goRuns } from "./toxiproxy/install.js";

/** What only `harnesses.test.ts` uses. */
type OfTheHarnesses = "unknown fields end in an error" | "unknown fields get no answer";

/** Which tests of ours notice each mutant. */
const OURS: Readonly<Record<Exclude<Name, "none" | OfTheHarnesses>, string>> = {
  "Host rewritten": "test/proxy/mcp-host.test.ts",
  "x-* dropped": "test/proxy/hop-by-hop.test.ts",
  "hop-by-hop fields passed on": "test/proxy/hop-by-hop.test.ts",
  "fields that Connection names passed on": "test/proxy/hop-by-hop.test.ts",
  "an end-to-end field dropped": "test/proxy/hop-by-hop.test.ts",
  "last Set-Cookie only": "test/proxy/cookies.test.ts",
  "Cookie fields joined by a comma": "test/proxy/cookies.test.ts",
  "query dropped": "test/proxy/verify-path.test.ts",
  "%2F decoded": "test/proxy/verify-path.test.ts",
  "// folded": "test/proxy/verify-path.test.ts",
  "Accept-Encoding dropped": "test/proxy/encodings.test.ts",
  "body re-serialised": "test/proxy/numbers.test.ts",
  "body capped at 1 MiB": "test/proxy/encodings.test.ts",
  "cut body sent as whole": "test/proxy/faults-upstream.test.ts",
  "everything buffered": "test/proxy/sse.test.ts",
  "upstream limited to 2 s": "test/conformance/slow.test.ts",
  "redirects followed": "test/proxy/redirects.test.ts",
  "status changed": "test/proxy/shapes.test.ts",
  "Content-Encoding left after decoding": "test/proxy/encodings.test.ts",
  "mask taken from a nested string": "test/proxy/shapes.test.ts",
  "masks not seen": "test/proxy/translate.test.ts",
  "verify path not decoded": "test/proxy/verify-path.test.ts",
  "WebSocket extensions dropped": "test/conformance/websocket.test.ts",
  "WebSocket close code dropped": "test/conformance/websocket.test.ts",
  "WebSocket pings dropped": "test/conformance/websocket.test.ts",
};

/** A mutant that each of the others' suites notices: their traffic does go through the proxy. */
const SUITES: readonly (readonly [suite: string, mutant: Name])[] = [
  ["requests", "query dropped"],
  ["mcp", "Host rewritten"],
  ["gym-servers", "status changed"],
  ["schemathesis", "status changed"],
  ["toxiproxy", "cut body sent as whole"],
];

const missesGo = process.env["CI"] !== "true" && !goRuns();

describe("a proxy that is wrong in one way", () => {
  test.each(Object.entries(OURS))("(%s) is noticed by %s", async (mutant, file) => {
    const { failures } = await runWith(mutant as Name, file);
    console.log(`mutant "${mutant}": ${file}: ${failures[0] ?? "SURVIVED"}`);
    expect(failures).not.toEqual([]);
  });

  test.for(SUITES)("is noticed by the suite %s (%s)", async ([suite, mutant], { skip }) => {
    skip(suite === "toxiproxy" && missesGo, "no Go runs here");
    const { failures } = await runWith(mutant, `test/conformance/${suite}.test.ts`);
    console.log(`mutant "${mutant}": suite ${suite}: ${failures[0] ?? "SURVIVED"}`);
    expect(failures.join("\n")).toMatch(/AssertionError/);
  });
});

test.each([...new Set(Object.values(OURS))])("no change is no failure of %s", async (file) => {
  const { failures, passed } = await runWith("none", file);
  expect(failures).toEqual([]);
  expect(passed).toBeGreaterThan(0);
});
