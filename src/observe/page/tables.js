import { element } from "./dom.js";
import { clock, count, percent } from "./texts.js";

const number = (value) => element("td", { class: "number" }, count(value));

const numberWith = (value, why) =>
  element(
    "td",
    { class: "number" },
    count(value),
    ...(why === "" ? [] : [element("small", {}, why)]),
  );

/** The rows of the routes. */
export function routeRows(routes) {
  return routes.map(({ name, mode, ramp, requests, aborted, ...more }) => {
    const { answers, translated, letThrough, errors, window, stormSince } = more;
    const sum = (counts) => Object.values(counts).reduce((all, n) => all + n, 0);
    const why = Object.entries(letThrough)
      .map(([because, n]) => `${because}: ${n}`)
      .join("; ");
    const codes = Object.entries(errors)
      .map(([code, n]) => `${code}: ${n}`)
      .join("; ");
    const storm = stormSince !== undefined;
    return element(
      "tr",
      storm ? { class: "storm" } : {},
      element("th", { scope: "row" }, name),
      element("td", {}, mode),
      element("td", { class: "share" }, shareOf(mode, window, storm)),
      element("td", {}, ...rampOf(ramp)),
      number(requests + aborted),
      number(answers.scored + answers.masked + answers.unknown + answers.uninspectable),
      number(answers.masked),
      number(translated),
      numberWith(sum(letThrough), why),
      numberWith(sum(errors), codes),
    );
  });
}

function rampOf(ramp) {
  if (ramp === undefined) return ["–"];
  const { percentage, by } = ramp;
  const text = percentage === 100 ? "100 %" : `${percentage} % by ${by}`;
  return [
    element("progress", { max: 100, value: percentage, "aria-label": `ramp at ${text}` }),
    text,
  ];
}

function shareOf(mode, { answers, masked, share }, storm) {
  if (mode === "passthrough") return "not looked at";
  if (answers === 0) return "no answers";
  return `${storm ? "storm: " : ""}${percent(share)} (${masked} of ${answers})`;
}

/** What tells a masked answer from all others, those of before a restart too. */
export function recentKey({ id, time }) {
  return `${time} ${id}`;
}

/** A row of the last masked answers. */
export function recentRow(record) {
  const { time, route, decision, because, translation, status, kind, reason, task, path } = record;
  const got = decision === "translate" ? `${status} (${translation})` : `the answer (${because})`;
  return element(
    "tr",
    {},
    element("td", {}, element("time", { datetime: time }, clock(time))),
    element("td", {}, route),
    element("td", {}, kind),
    element("td", { class: "text" }, reason),
    element("td", {}, got),
    element("td", { class: "code" }, taskOf(task)),
    element("td", { class: "code" }, path),
  );
}

/** A long one is a hash: its beginning will do until somebody asks. */
function taskOf(task) {
  if (task === undefined) return "–";
  if (task.length <= 20) return task;
  return element("details", {}, element("summary", {}, `${task.slice(0, 12)}…`), task);
}
