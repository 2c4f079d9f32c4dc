import { setImmediate } from "node:timers";
import { expect, it } from "vitest";
import { AnswerScan } from "../../../src/mask/scan.js";
import { drive } from "../../../src/proxy/drive.js";

const MEBIBYTE = 1024 * 1024;

it("gives others a turn for about every megabyte of an answer that is walked whole", async () => {
  const text = `{"mask_sample":true,"a":"${String.raw`x\"`.repeat(15 * MEBIBYTE)}"}`;
  const bytes = Buffer.from(text);
  const chunks = Array.from({ length: Math.ceil(bytes.length / MEBIBYTE) }, (_, n) =>
    bytes.subarray(n * MEBIBYTE, (n + 1) * MEBIBYTE),
  );
  const scan = new AnswerScan();
  for (const chunk of chunks) scan.push(chunk);
  let turns = 0;
  let isOver = false;
  const turn = (): void => {
    turns += 1;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  const { verdict } = await drive(scan.judge(), {
    count: chunks.length,
    size: bytes.length,
    chunk: (index) => chunks[index]!,
  });
  isOver = true;
  expect(verdict).toBe("masked");
  expect(turns).toBeGreaterThan(chunks.length / 3);
});
