import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { watchConfig } from "../../../src/config/watch.js";

type Look = (now: { readonly ino: number }) => void;

const watched = vi.hoisted(() => ({ look: undefined as Look | undefined, every: 0 }));

vi.mock("node:fs", () => ({
  watchFile: (_file: string, { interval }: { interval: number }, look: Look) => {
    watched.look = look;
    watched.every = interval;
  },
  unwatchFile: () => {
    watched.look = undefined;
  },
}));

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

/** The file was found to have changed; then the time until it is looked at again passes. */
function changes(ino = 1): void {
  watched.look?.({ ino });
  vi.advanceTimersByTime(watched.every);
}

it("tells of a change once the file has stayed as it is, and once only", () => {
  const onChange = vi.fn();
  watchConfig("maskgate.yaml", onChange);
  changes();
  expect(onChange).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1000);
  expect(onChange).toHaveBeenCalledTimes(1);
  vi.advanceTimersByTime(60_000);
  expect(onChange).toHaveBeenCalledTimes(1);
});

// The first half of a file may be a valid file with fewer routes.
it("waits for the end of a file that is still being written", () => {
  const onChange = vi.fn();
  watchConfig("maskgate.yaml", onChange);
  for (let i = 0; i < 100; i++) changes();
  expect(onChange).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1000);
  expect(onChange).toHaveBeenCalledTimes(1);
});

it("tells once of a file that is missing, and of no change until there is one again", () => {
  const onChange = vi.fn();
  const onMissing = vi.fn();
  watchConfig("maskgate.yaml", onChange, onMissing);
  changes();
  changes(0);
  expect(onMissing).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1000);
  expect(onMissing).toHaveBeenCalledTimes(1);
  expect(onChange).not.toHaveBeenCalled();
  changes(2);
  vi.advanceTimersByTime(1000);
  expect(onChange).toHaveBeenCalledTimes(1);
});

it("says nothing once it was told to stop", () => {
  const onChange = vi.fn();
  const stop = watchConfig("maskgate.yaml", onChange);
  changes();
  stop();
  changes();
  vi.advanceTimersByTime(1000);
  expect(onChange).not.toHaveBeenCalled();
});

it("looks once more after the start, but not at a file that is being written", () => {
  const [onChange, onStart] = [vi.fn(), vi.fn()];
  watchConfig("maskgate.yaml", onChange, undefined, onStart);
  vi.advanceTimersByTime(60_000);
  expect(onStart).toHaveBeenCalledTimes(1);
  expect(onChange).not.toHaveBeenCalled();
  watchConfig("maskgate.yaml", onChange, undefined, onStart);
  for (let i = 0; i < 100; i++) changes();
  vi.advanceTimersByTime(1000);
  expect(onStart).toHaveBeenCalledTimes(1);
  expect(onChange).toHaveBeenCalledTimes(1);
});
