// What one masked rollout does to a group: the numbers and the picture of docs/WHY.md.
// `node docs/why/why.mjs` writes both anew; test/unit/why.test.ts fails when they are out of date.
import { readFileSync, writeFileSync } from "node:fs";
import { argv } from "node:process";
import { fileURLToPath } from "node:url";

const PAGE = new URL("../WHY.md", import.meta.url);
const PICTURE = new URL("group.svg", import.meta.url);

const sum = (values) => values.reduce((total, value) => total + value, 0);
const mean = (values) => (values.length === 0 ? 0 : sum(values) / values.length);

/** The sample standard deviation, as TRL and NeMo RL take it; 0 for fewer than two values. */
export function deviation(values) {
  if (values.length < 2) return 0;
  const middle = mean(values);
  return Math.sqrt(sum(values.map((value) => (value - middle) ** 2)) / (values.length - 1));
}

/** A reward less the group's mean (prime-rl). */
export const byMean = (rewards) => rewards.map((reward) => reward - mean(rewards));

/** The same over the group's deviation, which TRL keeps from 0 by 1e-4. */
export const byDeviation = (rewards) =>
  byMean(rewards).map((advantage) => advantage / (deviation(rewards) + 1e-4));

/** A reward less the mean of the others, over the deviation of the others where they differ (NeMo RL). */
export const leaveOneOut = (rewards) =>
  rewards.map((reward, at) => {
    const others = rewards.filter((_other, index) => index !== at);
    const ahead = others.length === 0 ? 0 : reward - mean(others);
    return ahead / (deviation(others) || 1);
  });

const GROUPS = [
  { good: 4, bad: 3, masked: 1 },
  { good: 7, bad: 0, masked: 1 },
  { good: 1, bad: 6, masked: 1 },
  { good: 1, bad: 0, masked: 7 },
];

const ESTIMATORS = [
  ["mean (prime-rl)", byMean],
  ["mean and deviation (TRL)", byDeviation],
  ["leave one out (NeMo RL)", leaveOneOut],
];

/** The advantage of a good, a bad and a masked member of a group, each undefined where there is none. */
export function advantages({ good, bad, masked }, estimate, reading) {
  const measured = [...Array(good).fill(1), ...Array(bad).fill(0)];
  const rewards = reading === "dropped" ? measured : [...measured, ...Array(masked).fill(0)];
  const all = estimate(rewards);
  return {
    good: good > 0 ? all[0] : undefined,
    bad: bad > 0 ? all[good] : undefined,
    masked: reading === "read as 0" ? all[good + bad] : undefined,
  };
}

const signed = (value) => {
  const text = Math.abs(value).toFixed(3);
  if (Number(text) === 0) return "0";
  return `${value < 0 ? "−" : "+"}${text}`;
};

const cell = (found) =>
  Object.entries(found)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name} ${signed(value)}`)
    .join(", ");

const table = (head, rows) =>
  [head, head.map(() => "---"), ...rows].map((row) => `| ${row.join(" | ")} |`).join("\n");

function groupsTable() {
  const readings = ["read as 0", "dropped", "still voting"];
  const rows = GROUPS.flatMap((group) =>
    ESTIMATORS.map(([name, estimate], at) => [
      at === 0 ? `${group.good} good, ${group.bad} bad, ${group.masked} masked` : "",
      name,
      ...readings.map((reading) => cell(advantages(group, estimate, reading))),
    ]),
  );
  return table(["group of 8", "estimator", ...readings], rows);
}

const choose = (n, k) => (k === 0 ? 1 : (choose(n - 1, k - 1) * n) / k);

/** What a share of masked rollouts does to groups whose survivors succeed with a chance of `success`. */
export function storm(share, size = 8, success = 0.5) {
  const survivors = (k) => choose(size, k) * (1 - share) ** k * share ** (size - k);
  const unsuccessful = 1 - (1 - share) * success;
  const without = 1 - (1 - share) * (1 - success);
  return {
    none: survivors(0),
    one: survivors(1),
    more: 1 - survivors(0) - survivors(1),
    // Some reward is 1 and some is 0: everybody but where all are alike.
    moved: 1 - unsuccessful ** size - ((1 - share) * success) ** size,
    // Among the survivors alone: some succeeded and some did not.
    real: 1 - unsuccessful ** size - without ** size + share ** size,
  };
}

const percent = (value) => `${(100 * value).toFixed(1)} %`;

function stormTable() {
  const rows = [0.01, 0.05, 0.2, 0.5, 0.916].map((share) => {
    const { none, one, more, moved, real } = storm(share);
    return [share, none, one, more, moved, real].map(percent);
  });
  const head = ["masked", "no survivor", "one", "two or more", "gradient, read as 0", "dropped"];
  return table(head, rows);
}

function evaluationTable() {
  const rows = [0, 10, 25, 50].map((masked) => [
    `${masked} of 100`,
    ((0.6 * (100 - masked)) / 100).toFixed(2),
    "0.60",
  ]);
  return table(["masked", "mean with masks read as 0", "mean of the measured"], rows);
}

const TABLES = { groups: groupsTable, storm: stormTable, evaluation: evaluationTable };

/** The page with its tables computed anew. */
export function page(text) {
  return Object.entries(TABLES).reduce(
    (whole, [name, make]) =>
      whole.replace(
        new RegExp(`(<!-- ${name} -->\n)[^]*?(<!-- end -->)`),
        (_all, start, end) => `${start}\n${make()}\n\n${end}`,
      ),
    text,
  );
}

/** The advantages of a group of seven good rollouts and a masked one, as bars. */
export function picture() {
  const group = GROUPS[1];
  const panels = [
    ["read as 0", advantages(group, byDeviation, "read as 0"), "the advantages of TRL"],
    ["dropped", advantages(group, byDeviation, "dropped"), "503, or reward null"],
    ["still voting", advantages(group, leaveOneOut, "still voting"), "NeMo RL's baseline"],
  ];
  const [width, zero, unit] = [250, 120, 60];
  const bar = (x, value, color) => {
    const height = Math.max(Math.abs(value) * unit, 1);
    const y = value > 0 ? zero - height : zero;
    return `<rect x="${x}" y="${y.toFixed(1)}" width="18" height="${height.toFixed(1)}" fill="${color}"/>`;
  };
  const panel = ([title, found, note], at) => {
    const left = 20 + at * width;
    const bars = Array.from({ length: 8 }, (_value, index) => {
      const value = index === 7 ? (found.masked ?? 0) : found.good;
      return bar(left + index * 26, value, index === 7 ? "#c2410c" : "#2563eb");
    });
    const said = `good ${signed(found.good)}, masked ${found.masked === undefined ? "left out" : signed(found.masked)}`;
    return [
      `<text x="${left}" y="40" class="title">${title}</text>`,
      `<text x="${left}" y="58">${note}</text>`,
      ...bars,
      `<line x1="${left - 4}" x2="${left + 206}" y1="${zero}" y2="${zero}" stroke="#71717a"/>`,
      `<text x="${left}" y="300">${said}</text>`,
    ].join("\n");
  };
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 770 320" role="img">
<title>Advantages of seven good rollouts and a masked one, by what is made of the mask</title>
<style>text { font: 13px system-ui, sans-serif; fill: #52525b } .title { font-weight: 700; fill: #18181b }</style>
<rect width="770" height="320" fill="#ffffff"/>
${panels.map(panel).join("\n")}
</svg>
`;
}

if (argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(PAGE, page(readFileSync(PAGE, "utf8")));
  writeFileSync(PICTURE, picture());
}
