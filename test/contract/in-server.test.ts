import { beforeAll, describe, expect, test } from "vitest";
import { withoutSession } from "./clock.js";
import { startMaskgate } from "./maskgate.js";
import {
  askWithGym,
  GRIDSIM,
  gridsimRows,
  modelResponse,
  startResourcesServer,
} from "./nemo-gym.js";
import type { GymAnswer } from "./nemo-gym.js";
import { lacks } from "./peers.js";
import { showProgramsOfFailedTests } from "./programs.js";

const FLAG = "{gridsim_v1: {resources_servers: {gridsim_v1: {masked_as_error: true}}}}";

/** The peer is one real server twice: behind a strict maskgate, and with a flag of its own that raises HTTP 503. */
describe.skipIf(lacks("nemo-gym"))("a strict maskgate and a server with such a flag", () => {
  let played: { gate: GymAnswer; flag: GymAnswer };
  let masked: { gate: GymAnswer; flag: GymAnswer };
  showProgramsOfFailedTests();

  beforeAll(async () => {
    const [plain, flagged] = await Promise.all([
      startResourcesServer({ server: GRIDSIM }),
      startResourcesServer({ server: GRIDSIM, globals: FLAG }),
    ]);
    const gate = await startMaskgate(plain.url, "--masked-as-error");
    const [first, second] = await gridsimRows();
    const rows = [{ ...first }, { ...second, reset_timeout: 0.01 }];
    const requests = ["gate", "flag"].flatMap((server) =>
      rows.flatMap((row, at) =>
        ["/seed_session", "/verify"].map((path) => ({
          server,
          path,
          session: `${server}-${at}`,
          json: path === "/verify" ? { ...row, response: modelResponse("Idle.") } : row,
        })),
      ),
    );
    const { answers } = await askWithGym({ gate: gate.url, flag: flagged.url }, requests);
    played = { gate: answers[1]!, flag: answers[5]! };
    masked = { gate: answers[3]!, flag: answers[7]! };
    await Promise.all([gate, plain, flagged].map(({ program }) => program.stop()));
  });

  test("give a day that was played the same answer, byte for byte", () => {
    expect(played.gate.status).toBe(200);
    expect(withoutSession(played.gate)).toEqual(withoutSession(played.flag));
  });

  test("give a masked day the same status and the same reason", () => {
    const details = [masked.gate, masked.flag].map(({ status, body }) => ({
      status,
      detail: (JSON.parse(body) as { detail: unknown }).detail,
    }));
    expect(details[0]).toEqual({ status: 503, detail: "reset timed out after 0.01 s" });
    expect(details[1]).toEqual(details[0]);
  });

  test("differ in the status line, which is all that httpx keeps of a 503", () => {
    expect(masked.flag.reason).toBe("Service Unavailable");
    expect(masked.gate.reason).toBe("Masked: provider_unavailable: reset timed out after 0.01 s");
  });
});
