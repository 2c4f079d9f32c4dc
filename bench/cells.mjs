import { ANSWERS } from "./answers.mjs";

const cell = (id, answer, connections, more = {}) => ({
  id,
  answer,
  connections,
  bytes: ANSWERS[answer].bytes,
  masked: ANSWERS[answer].masked,
  ...more,
});

/**
 * What is measured. `perByte`: in MB/s, because few answers come in the time.
 * `full`: not in a quick run. `light`: for the slow peers, too, in a quick run.
 */
export const CELLS = [
  cell("2k", "2k", 16, { light: true }),
  cell("64k", "64k", 16, { light: true }),
  cell("1m", "1m", 16),
  cell("2k-masked", "2k-masked", 16),
  cell("64k-masked", "64k-masked", 16, { full: true }),
  cell("1m-masked", "1m-masked", 16, { full: true }),
  cell("2k-alone", "2k", 1),
  cell("64k-alone", "64k", 1, { full: true }),
  cell("2k-128", "2k", 128, { full: true }),
  cell("delay", "2k", 1000, { delay: 200, warm: 0.5 }),
  // The last one: V8 throws compiled code away during it, and would compile through the next cell.
  cell("16m", "16m", 32, { perByte: true, warm: 0.5, longer: 2, minAnswers: 8 }),
];
