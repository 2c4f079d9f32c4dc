import { afterEach } from "vitest";

type Close = () => void | Promise<void>;

const open: Close[] = [];

/** Runs `close` after the test that is running now, the last opened first. */
export function closeLater(close: Close): void {
  open.push(close);
}

afterEach(async () => {
  const failures: unknown[] = [];
  for (let close = open.pop(); close !== undefined; close = open.pop()) {
    try {
      // One after the other: a proxy drains only while its upstream is still there.
      await close();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw new AggregateError(failures, "closing failed");
});
