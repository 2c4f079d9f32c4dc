import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { verifyPath } from "../../src/route/verify-path.js";
import { startMaskgate } from "./maskgate.js";
import type { Maskgate } from "./maskgate.js";
import { GRIDSIM, startResourcesServer } from "./nemo-gym.js";
import type { ResourcesServer } from "./nemo-gym.js";
import { lacks } from "./peers.js";
import { showProgramsOfFailedTests } from "./programs.js";
import { openClient } from "../helpers/raw-client.js";
import type { RawClient } from "../helpers/raw-client.js";

/** Targets that a hostile client might hope the proxy reads otherwise than the server. */
const ODD = [
  "/verify",
  "/verify?",
  "/verify?x=/other",
  "/verify#x",
  "/verify?#x",
  "/verify%23x",
  "/verify;x",
  "/verify;",
  "/verify%3Bx",
  "/verify%0a",
  "/verify%0A?x",
  "/verify%0a%0a",
  "/verify%0d",
  "/verify%0d%0a",
  "/verify%00",
  "/%00verify",
  "/verify%20",
  "/verify%09",
  "/verify%0b",
  "/verify%0c",
  "/verify%1c",
  "/verify%85",
  "/verify%c2%85",
  "/verify%e2%80%a8",
  "/verify%",
  "/verify%7",
  "/verify%zz",
  "/%76%65%72%69%66%79",
  "/%u0076erify",
  "/%2576erify",
  "%2fverify",
  "/%2fverify",
  "/%2e/verify",
  "/./verify",
  "/%2e%2e/verify",
  "/x/../verify",
  "/verify/",
  "/verify/.",
  "/verify%2f",
  "//verify",
  "///verify",
  "/\\verify",
  "\\verify",
  "verify",
  "*",
  "",
  "/",
  "/%c1%b6erify",
  "/%c0%afverify",
  "/%e0%81%b6erify",
  "/%ef%bd%96erify",
  "/verify%ff",
  "/veri\u00adfy",
  "/Verify",
  "/VERIFY",
  "http://a/verify",
  "http:/verify",
  "http:///verify",
  "http://verify",
  "http://a:b@c/verify",
  "http://a?/verify",
  "http://a#/verify",
  "http://a/verify?x",
  "http://a/verify#x",
  "http://a//verify",
  "http://[::1]/verify",
  "http://[::1]:9/verify",
  "http://a\\b/verify",
  "http://a:99999/verify",
  "http://a%2fb/verify",
  "https://a/verify",
  "ftp://a/verify",
  "ws://a/verify",
  "x:/verify",
  "x://a/verify",
  "//a/verify",
  "/ng-rollout/a/verify",
  "/ng-rollout/a/verify%0a",
  "/ng-rollout/a%0a/verify",
  "/ng-rollout/%0a/verify",
  "/ng-rollout/a/../verify",
  "/ng-rollout/../verify",
  "/ng-rollout/./verify",
  "/ng-rollout//verify",
  "/ng-rollout/a%2fverify",
  "/ng-rollout/a%2Fverify",
  "/ng-rollout%2Fa/verify",
  "/ng-rollout/a/ng-rollout/b/verify",
  "/ng-rollout/%61/verify",
  "/ng-rollout/a;x/verify",
  "/ng-rollout/-a/verify",
  "/ng-rollout/a?/verify",
  "/ng-rollout/a#/verify",
  "/ng-rollout/%c3%a9/verify",
  "/ng-rollout/%d9%a3/verify",
  "/ng-rollout/%e2%84%aa/verify",
  "/ng-rollout/_a/verify",
  "/ng-rollout/a~/verify",
  "/ng-rollout/a/verify/",
  "/ng-rollout/a/%76erify",
  "/ng%2drollout/a/verify",
  "/ng-rollout/a\u0000/verify",
  "http://h/ng-rollout/a/verify",
  "/x/ng-rollout/a/verify",
];

/** Random targets out of the pieces that parsers disagree about. */
const odd = fc
  .array(
    fc.constantFrom(
      ...["/verify", "verify", "/ng-rollout/", "a", "/", "//", ".", "..", "%2e", "%2f", "%2F"],
      ...["%0a", "%00", "%0d", "%20", "%25", "%76", "%", ";", "?", "#", "\\", ":", "@", "http://"],
      ...[
        "h",
        "%c0%af",
        "%ff",
        "%c3%a9",
        "*",
        "&",
        "=",
        "-",
        "_",
        "~",
        "|",
        "[",
        "]",
        "%23",
        "%3f",
      ],
    ),
    { minLength: 1, maxLength: 6 },
  )
  .map((parts) => parts.join(""));
const near = fc
  .tuple(
    fc.constantFrom("", "http://h", "/ng-rollout/a", "x:", "/."),
    fc.array(odd, { maxLength: 1 }),
    odd,
  )
  .map(([before, middle, after]) => `${before}${middle.join("")}/verify${after}`);

interface Asked {
  readonly target: string;
  /** 0 where the server closed the connection without an answer. */
  readonly status: number;
}

/** What the server answers to a POST for each target, whose body no verify endpoint takes (422); one connection as long as it lasts. */
async function ask(url: string, targets: readonly string[]): Promise<Asked[]> {
  const asked: Asked[] = [];
  let client: RawClient | undefined;
  for (const target of targets) {
    client ??= await openClient(url);
    client.write(
      `POST ${target} HTTP/1.1\r\nHost: gym\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}`,
    );
    const reply = await client.reply("POST").catch(() => undefined);
    asked.push({ target, status: reply?.status ?? 0 });
    const closes = reply?.fields.some(([n, v]) => /^connection$/i.test(n) && /close/i.test(v));
    if (reply === undefined || reply.ended !== "open" || closes === true) {
      client.destroy();
      client = undefined;
    }
  }
  client?.destroy();
  return asked;
}

/**
 * The peers are nemo-gym's server under its own launcher and under plain uvicorn, as verifiers starts it. A target that the server serves as a verify and maskgate
 * does not would lead a strict client around its mask; the other way round nothing is lost.
 */
describe.skipIf(lacks("nemo-gym")).each(["run_webserver", "verifiers"] as const)(
  "odd request targets at a real server (%s)",
  (style) => {
    let server: ResourcesServer;
    let gate: Maskgate;
    showProgramsOfFailedTests();

    beforeAll(async () => {
      server = await startResourcesServer({ server: GRIDSIM, style });
      gate = await startMaskgate(server.url, "--masked-as-error");
    });

    afterAll(async () => {
      await gate.program.stop();
      await server.program.stop();
    });

    test("that it serves as a verify are verifies to maskgate, too", async () => {
      const seed = Number(process.env["MASKGATE_SEED"] ?? 1);
      const random = [
        ...fc.sample(odd, { seed, numRuns: 700 }),
        ...fc.sample(near, { seed, numRuns: 1300 }),
      ];
      const targets = [...new Set([...ODD, ...random])].filter((target) => !/[ \r\n]/.test(target));
      const direct = await ask(server.url, targets);
      const served = direct.filter(({ status }) => status === 422);
      expect(served.length).toBeGreaterThan(10);
      expect(served.filter(({ target }) => verifyPath(target) === undefined)).toEqual([]);
      // Through maskgate each is answered as directly, or refused by the stricter parser; never served where it was not.
      const through = await ask(gate.url, targets);
      const differing = through.filter(
        ({ status }, n) => status !== direct[n]!.status && status !== 400,
      );
      expect(differing.map(({ target, status }) => [target, status])).toEqual([]);
    });
  },
);
