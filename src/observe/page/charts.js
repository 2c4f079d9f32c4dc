import { drawn } from "./dom.js";

const HEIGHT = 220;
const LEFT = 44;
const RIGHT = 12;
const TOP = 10;
const BOTTOM = 24;
const COLOURS = 7;
const TICK_MINUTES = [1, 2, 5, 10, 20, 30];
/** Half of how wide a time of day is. */
const HALF_TIME = 18;

/** A colour for each name, the same one as long as the page is open; from the eighth on they share one. */
export function colours() {
  const given = new Map();
  return (name) => {
    if (!given.has(name)) given.set(name, Math.min(given.size, COLOURS) + 1);
    return `var(--s${given.get(name)})`;
  };
}

/** Lines of shares from 0 to 1, one for each series; a gap where there is no value. */
export function shareChart(series, { width, end, spanMs, limit, label }) {
  const scale = scales(width, 1);
  const step = (width - LEFT - RIGHT) / (series[0]?.values.length ?? 1);
  const lines = series.flatMap(({ values, colour }) => [
    drawn("path", { class: "series", stroke: colour, d: pathOf(values, step, scale.y) }),
    ...aloneIn(values).map((i) =>
      drawn("circle", { fill: colour, cx: LEFT + (i + 0.5) * step, cy: scale.y(values[i]), r: 4 }),
    ),
  ]);
  const limitY = scale.y(limit);
  return frame(width, label, [
    ...gridOf(width, scale.y, [0, 0.25, 0.5, 0.75, 1], (share) => `${share * 100} %`),
    ...timesOf(width, end, spanMs),
    drawn("line", { class: "limit", x1: LEFT, x2: width - RIGHT, y1: limitY, y2: limitY }),
    ...lines,
  ]);
}

/** Stacked bars of counts: for each stretch of time, a part for each series. */
export function stackedChart(series, { width, end, spanMs, label }) {
  const count = series[0]?.values.length ?? 0;
  const sums = Array.from({ length: count }, (_, i) =>
    series.reduce((sum, { values }) => sum + values[i], 0),
  );
  const top = roundUp(Math.max(1, ...sums));
  const scale = scales(width, top);
  const step = (width - LEFT - RIGHT) / Math.max(1, count);
  const bars = sums.flatMap((_, i) => {
    let below = 0;
    return series.flatMap(({ values, colour }) => {
      const value = values[i];
      if (value === 0) return [];
      const y = scale.y(below + value);
      const height = scale.y(below) - y;
      below += value;
      const x = LEFT + i * step + step * 0.08;
      return drawn("rect", { fill: colour, x, y, height, width: step * 0.84 });
    });
  });
  const ticks = [0, top / 2, top].filter((tick) => Number.isInteger(tick));
  return frame(width, label, [
    ...gridOf(width, scale.y, ticks, String),
    ...timesOf(width, end, spanMs),
    ...bars,
  ]);
}

function frame(width, label, children) {
  const box = {
    viewBox: `0 0 ${width} ${HEIGHT}`,
    height: HEIGHT,
    role: "img",
    "aria-label": label,
  };
  return drawn("svg", box, ...children);
}

function scales(width, top) {
  return { y: (value) => TOP + (1 - value / top) * (HEIGHT - TOP - BOTTOM) };
}

/** The values with none on either side, which no line shows. */
function aloneIn(values) {
  return [...values.keys()].filter(
    (i) => values[i] !== undefined && values[i - 1] === undefined && values[i + 1] === undefined,
  );
}

/** A point at the middle of each stretch. */
function pathOf(values, step, y) {
  let path = "";
  let before = false;
  for (const [i, value] of values.entries()) {
    if (value !== undefined) {
      const at = `${(LEFT + (i + 0.5) * step).toFixed(1)} ${y(value).toFixed(1)}`;
      path += `${before ? "L" : "M"}${at}`;
    }
    before = value !== undefined;
  }
  return path;
}

function gridOf(width, y, values, text) {
  return values.flatMap((value) => [
    drawn("line", { class: "grid", x1: LEFT, x2: width - RIGHT, y1: y(value), y2: y(value) }),
    drawn("text", { x: LEFT - 6, y: y(value) + 4, "text-anchor": "end" }, text(value)),
  ]);
}

function timesOf(width, end, spanMs) {
  const most = width < 480 ? 3 : 6;
  const step = TICK_MINUTES.map((minutes) => minutes * 60_000).find((ms) => spanMs / ms <= most);
  const first = Math.ceil((end - spanMs) / step) * step;
  const count = Math.floor((end - first) / step) + 1;
  return Array.from({ length: count }, (_, i) => {
    const time = new Date(first + i * step);
    const x = LEFT + (1 - (end - time) / spanMs) * (width - LEFT - RIGHT);
    const text = time.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", hour12: false });
    const anchor = x > width - RIGHT - HALF_TIME ? "end" : "middle";
    return drawn("text", { x, y: HEIGHT - 6, "text-anchor": anchor }, text);
  });
}

function roundUp(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 3, 4, 5, 6, 8, 10].map((step) => step * power).find((step) => step >= value);
}
