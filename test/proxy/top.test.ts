import { describe, expect, it } from "vitest";
import { runCli } from "../helpers/cli.js";
import { answer, MASKED, verify } from "../helpers/messages.js";
import { startConfigured } from "../helpers/proxy.js";
import { rawRequest } from "../helpers/raw-client.js";
import { freePort, startUpstream } from "../helpers/upstream.js";

describe("maskgate top --once", () => {
  it("prints what a running maskgate has seen", async () => {
    const yaml = "admin: {port: 0}\nroutes: [{name: v, mode: strict}]";
    const proxy = await startConfigured(await startUpstream(answer(MASKED)), yaml);
    await rawRequest(proxy.url, verify());
    const { code, stdout } = await runCli(["top", proxy.gate.adminUrl ?? "", "--once"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^v +strict +100 % +1 +1 +1 +1 +0 +100 % of 1$/m);
    expect(stdout).toMatch(/judge_failed +503 \(error\) +[0-9a-f]{12} +the judge is gone$/m);
    expect(stdout).not.toContain("\u001B");
  });

  it("ends with a sentence when nobody answers or a token is asked for", async () => {
    const yaml = "admin: {port: 0, token: s3cret-token}\nroutes: [{name: v, mode: strict}]";
    const proxy = await startConfigured(await startUpstream(answer(MASKED)), yaml);
    const [nobody, refused, wrong] = await Promise.all([
      runCli(["top", `http://127.0.0.1:${await freePort()}`]),
      runCli(["top", proxy.gate.adminUrl ?? ""]),
      runCli(["top", "nowhere"]),
    ]);
    expect(nobody).toMatchObject({ code: 1, stderr: expect.stringMatching(/does not answer/) });
    expect(refused).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/MASKGATE_ADMIN_TOKEN/),
    });
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringMatching(/not http/) });
  });
});
