import { expect, it } from "vitest";
import { Few } from "../../../src/proxy/few.js";
import { deferred } from "../../helpers/deferred.js";

it("lets no more go at once than it may, the smallest of those that wait first", async () => {
  const few = new Few(2);
  const begun: string[] = [];
  const start = (name: string, size: number) => {
    const { promise, resolve } = deferred<Error | undefined>();
    const done = few.run(size, async () => {
      begun.push(name);
      const error = await promise;
      if (error !== undefined) throw error;
      return name;
    });
    return { done, end: () => resolve(undefined), fail: () => resolve(new Error(name)) };
  };
  const a = start("a", 5);
  const b = start("b", 5);
  const c = start("c", 5);
  const d = start("d", 1);
  expect(begun).toEqual(["a", "b"]);
  a.fail();
  await expect(a.done).rejects.toThrow("a");
  await Promise.resolve();
  expect(begun).toEqual(["a", "b", "d"]);
  d.end();
  expect(await d.done).toBe("d");
  await Promise.resolve();
  expect(begun).toEqual(["a", "b", "d", "c"]);
  b.end();
  c.end();
  await Promise.all([b.done, c.done]);
  const e = start("e", 9);
  const f = start("f", 9);
  expect(begun.slice(4)).toEqual(["e", "f"]);
  e.end();
  f.end();
  await Promise.all([e.done, f.done]);
});
