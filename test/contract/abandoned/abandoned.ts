import { writeFileSync } from "node:fs";
import { beforeAll, expect, test } from "vitest";
import { startProgram } from "../programs.js";

const STUBBORN =
  "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000); console.error('pid ' + process.pid);";

beforeAll(async () => {
  const launch = { name: "stubborn", command: process.execPath, args: ["-e", STUBBORN] };
  const pid = await new Promise<string>((resolve) => {
    startProgram(launch).onErrorLine((line) => resolve(line.slice("pid ".length)));
  });
  writeFileSync(process.env["MASKGATE_PIDS"]!, `${process.pid} ${pid}\n`);
  if (process.env["MASKGATE_HANGS"] !== undefined) await new Promise(() => undefined);
  throw new Error("this fails on purpose");
}, 600_000);

test("is never reached", () => {
  expect.unreachable();
});
