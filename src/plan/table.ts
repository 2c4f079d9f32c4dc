import { printable } from "../printable.js";
import type { Plan, Source, Step } from "./plan.js";

const MOST_CAUSES = 20;
const NAME_WIDTH = 40;
const WIDTH = 79;

/** The plan as lines of text of less than 80 columns. */
export function planLines(plan: Plan, source: Source): string[] {
  return [
    `${count(plan.rollouts, "rollout")} of ${count(plan.groups, "task")} in ${files(source.files)}`,
    "",
    ...overview(plan, source),
    ...causes(plan),
    ...steps(plan, source),
    ...translatedAlready(source),
    ...damage(source),
  ];
}

function overview(plan: Plan, { withoutAnswer, translated, damaged }: Source): string[] {
  const share = (part: number): string => percent(part, plan.rollouts);
  const row = (name: string, part: number, rest: string): string =>
    `  ${name.padEnd(18)}${whole(part).padStart(12)}${rest}`;
  const masked = `${share(plan.masked)}   in ${count(plan.groupsWithMask, "task")}`;
  return [
    row("masked", plan.masked, masked),
    row("scored", plan.rollouts - plan.masked, share(plan.rollouts - plan.masked)),
    ...(plan.leftAlone > 0
      ? [row("masked, left alone", plan.leftAlone, `${share(plan.leftAlone)}   by only / except`)]
      : []),
    ...(plan.withoutReward > 0
      ? [row("no reward", plan.withoutReward, `${share(plan.withoutReward)}   in no mean`)]
      : []),
    ...(plan.withoutKey > 0
      ? [
          row(
            "no task",
            plan.withoutKey,
            `${share(plan.withoutKey)}   in no group, an error at 100 %`,
          ),
        ]
      : []),
    ...(withoutAnswer > 0
      ? [row("no answer", withoutAnswer, "           left out: errors already")]
      : []),
    ...(translated > 0
      ? [row("  of them Masked", translated, "           a strict route has translated them")]
      : []),
    ...(damaged > 0 ? [row("damaged lines", damaged, "           left out")] : []),
  ];
}

function causes({ maskedBy, masked }: Plan): string[] {
  if (maskedBy.length === 0) return [];
  const shown = maskedBy.slice(0, MOST_CAUSES);
  const rest = maskedBy.slice(MOST_CAUSES);
  const signals = [...new Set(shown.map(({ signal }) => signal))];
  return [
    "",
    `${"masked, by signal and kind".padEnd(NAME_WIDTH + 6)}${cells(["rollouts", "of masked", "tasks"])}`,
    ...signals.flatMap((signal) => [
      `  ${narrow(signal)}`,
      ...shown
        .filter((cause) => cause.signal === signal)
        .map(({ kind, rollouts, groups, translated }) => {
          const name = `    ${narrow(kind).padEnd(NAME_WIDTH)}${translated ? "  " : " -"}`;
          return `${name}${cells([whole(rollouts), percent(rollouts, masked), whole(groups)])}`;
        }),
    ]),
    ...(rest.length > 0
      ? [
          `  and ${count(sum(rest.map(({ rollouts }) => rollouts)), "rollout")} of ${count(rest.length, "more kind")}`,
        ]
      : []),
    ...(shown.some(({ translated }) => !translated) ? ["  - left alone by only / except"] : []),
  ];
}

function steps(plan: Plan, { salt, percentage, by, route }: Source): string[] {
  const column = (step: Step): string => {
    const name = step.percentage === 0 ? "off" : `${step.percentage} %`;
    const mark = step.percentage === percentage ? " <" : "";
    return `  ${`${name}${mark}`.padEnd(12)}${columns([
      whole(step.translated),
      whole(step.groupsTouched),
      whole(step.groupsUnderTwo),
      reward(step.meanReward),
      reward(step.meanOfGroups),
    ])}`;
  };
  const [before] = plan.steps;
  const after = plan.steps.at(-1);
  const now = percentage === undefined ? "" : `, now at ${percentage} % (<)`;
  return [
    "",
    ...wrap(`a strict route, step by step (route ${narrow(route)}, salt ${narrow(salt)}${now})`),
    `  ${"".padEnd(12)}${columns(["", "tasks", "groups", "mean", "mean of"])}`,
    `  ${"ramp".padEnd(12)}${columns(["errors", "touched", "under 2", "reward", "groups"])}`,
    ...plan.steps.map(column),
    "",
    ...wrap(
      `Mean reward: ${reward(before?.meanReward)} with the masked rollouts, which were recorded with ` +
        `${reward(plan.maskedRewardMean)} on average; ${reward(after?.meanReward)} when the ramp is at 100 %.`,
    ),
    ...(by === "session"
      ? wrap("This ramp goes by session, which no file tells: the steps are counted by task.")
      : []),
    ...wrap("Groups under 2 have fewer than two rollouts left: they give no baseline."),
  ];
}

function translatedAlready({ translated }: Source): string[] {
  if (translated === 0) return [];
  return wrap(
    `This run went through a strict route: ${count(translated, "error")} "503 Masked" ${translated === 1 ? "is a mask" : "are masks"} that ${translated === 1 ? "was" : "were"} translated already, and ${translated === 1 ? "is" : "are"} in no number above.`,
  );
}

function damage({ damaged, damage: first }: Source): string[] {
  if (first.length === 0) return [];
  return [
    "",
    damaged > first.length ? `damaged, the first ${first.length} of ${whole(damaged)}` : "damaged",
    ...first.map(({ file, line, why }) => `  ${place(file, line)}  ${printable(why)}`),
  ];
}

/** `file:line`, fit to be printed. */
function place(file: string, line: number | undefined): string {
  return line === undefined ? printable(file) : `${printable(file)}:${line}`;
}

function files(names: readonly string[]): string {
  return names.length === 1 ? place(names[0] as string, undefined) : count(names.length, "file");
}

function cells([a, b, c]: readonly [string, string, string]): string {
  return `${a.padStart(12)}${b.padStart(11)}${c.padStart(9)}`;
}

function columns(texts: readonly string[]): string {
  return texts.map((text) => text.padStart(12)).join("");
}

/** Text of a server or a user, no wider than its column. */
function narrow(text: string): string {
  const shown = printable(text);
  return shown.length > NAME_WIDTH ? `${shown.slice(0, NAME_WIDTH - 1)}…` : shown;
}

function wrap(text: string): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last === undefined || last.length + 1 + word.length > WIDTH) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

function whole(number: number): string {
  return number.toLocaleString("en-US");
}

function count(number: number, name: string): string {
  return `${whole(number)} ${name}${number === 1 ? "" : "s"}`;
}

function percent(part: number, all: number): string {
  return `${all === 0 ? "–" : ((part / all) * 100).toFixed(1)} %`.padStart(9);
}

function reward(mean: number | undefined): string {
  return mean === undefined ? "–" : mean.toFixed(4);
}
