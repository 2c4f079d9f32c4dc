import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { withoutClock } from "./clock.js";
import { startMaskgate } from "./maskgate.js";
import {
  askWithGym,
  GRIDSIM,
  gridsimRows,
  modelResponse,
  startResourcesServer,
} from "./nemo-gym.js";
import type { GymAnswer, GymReading, GymRequest, ResourcesServer } from "./nemo-gym.js";
import { lacks } from "./peers.js";
import { showProgramsOfFailedTests } from "./programs.js";

const SESSIONS = ["played", "reset timed out", "of another day"];

interface Exchange {
  readonly request: GymRequest;
  readonly answer: GymAnswer;
}

/**
 * The peer is `ServerClient` of nemo_gym/server_utils.py, the client of Gym's own agents. Each session is seeded
 * directly; everything after is asked twice, directly and through a maskgate that was given nothing but the
 * upstream, with the same session cookie. All bytes are then compared but two values that carry the clock:
 * that of `date`, and the time stamp and signature behind the session that `set-cookie` holds.
 */
describe.skipIf(lacks("nemo-gym")).each(["run_webserver", "verifiers"] as const)(
  "before a resources server started like %s",
  (style) => {
    let upstream: ResourcesServer;
    let exchanges: Exchange[];
    let readings: Record<string, GymReading>;
    showProgramsOfFailedTests();

    beforeAll(async () => {
      upstream = await startResourcesServer({ server: GRIDSIM, style });
      const gate = await startMaskgate(upstream.url);
      try {
        const requests = await sessionRequests();
        const asked = await askWithGym({ direct: upstream.url, maskgate: gate.url }, requests);
        exchanges = asked.answers.map((answer, at) => ({ request: requests[at]!, answer }));
        readings = asked.gym;
      } finally {
        await gate.program.stop();
      }
    });
    afterAll(() => upstream.program.stop());

    test.each([
      ["/verify", "played", 200, { mask_sample: false, reward: 0.2 }],
      [
        "/verify",
        "reset timed out",
        200,
        { mask_sample: true, failure_kind: "provider_unavailable" },
      ],
      ["/verify", "of another day", 200, { mask_sample: true, failure_kind: "session_lost" }],
      ["/read_forecast", "played", 200, {}],
      ["/set_schedule", "played", 422, {}],
      ["/nowhere", "played", 404, {}],
    ])("Gym gets the same %s of %s through maskgate", (path, session, status, body) => {
      const [direct, through] = ["direct", "maskgate"].map((server) =>
        exchanges.find(
          ({ request }) =>
            request.server === server && request.path === path && request.session === session,
        ),
      );
      expect(direct?.answer.status).toBe(status);
      expect(JSON.parse(direct?.answer.body ?? "")).toMatchObject(body);
      expect(withoutClock(through?.answer)).toEqual(withoutClock(direct?.answer));
    });

    test("Gym counts the same answers as measured and as masked", () => {
      expect(readings["direct"]).toEqual({ measured: 1, masked: 2, mean: 0.2 });
      expect(readings["maskgate"]).toEqual(readings["direct"]);
    });
  },
);

async function sessionRequests(): Promise<GymRequest[]> {
  const [first, second, third] = await gridsimRows();
  const rows = [first, { ...second, reset_timeout: 0.01 }, { ...third, episode_day: 7 }];
  const task = (session: string) => ({ ...rows[SESSIONS.indexOf(session)] });
  const verify = (session: string) => ({
    ...task(session),
    response: modelResponse("Ünchanged ☀"),
  });
  const asked: Omit<GymRequest, "server">[] = [
    ...SESSIONS.map((session) => ({ path: "/verify", session, json: verify(session) })),
    { path: "/read_forecast", session: "played", json: {} },
    { path: "/set_schedule", session: "played", json: { schedule: [1] } },
    { path: "/nowhere", session: "played", json: {} },
  ];
  return [
    ...SESSIONS.map((session) => ({
      server: "direct",
      path: "/seed_session",
      session,
      json: task(session),
    })),
    ...asked.flatMap((request) => [
      { ...request, server: "direct" },
      { ...request, server: "maskgate" },
    ]),
  ];
}
