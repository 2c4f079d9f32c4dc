import { colours, shareChart, stackedChart } from "./charts.js";
import { byId, element, keepRows, renderer, setText } from "./dom.js";
import { keepToken, readEvents } from "./feed.js";
import { History } from "./history.js";
import { recentKey, recentRow, routeRows } from "./tables.js";
import { bytes, clock, count, percent, span } from "./texts.js";

const KEPT = 400;

const history = new History();
const render = renderer();
const routeColour = colours();
const kindColour = colours();
let recent = [];
let status;
let heard;

function onStatus(next) {
  status = next;
  heard = Date.now();
  history.add(next.history, next.now);
  recent = [...next.recent, ...recent].slice(0, KEPT);
  byId("view").hidden = false;
  byId("view").classList.remove("stale");
  hideToken();
  showState();
  showTiles();
  render(byId("routes").tBodies[0], next.routes, routeRows);
  showRecent();
  showCharts();
}

function showState() {
  const storms = status.routes.filter(({ stormSince }) => stormSince !== undefined);
  const names = storms.map(({ name }) => name).join(", ");
  const judged = status.routes.some(({ answers }) => Object.values(answers).some((n) => n > 0));
  const quiet = judged ? "calm" : "idle";
  const state = storms.length > 0 ? "storm" : status.draining ? "draining" : quiet;
  const texts = { storm: `MASK STORM: ${names}`, idle: "no answers yet" };
  setState(state, texts[state] ?? state);
  const up = span(status.uptimeSeconds);
  setText(byId("about"), `${status.version} in front of ${status.upstream}, up ${up}`);
}

function setState(state, text) {
  const node = byId("state");
  node.dataset.state = state;
  setText(node, text);
  document.title = state === "storm" ? `(!) ${text}` : "maskgate";
}

function showTiles() {
  const sum = (of) => status.routes.reduce((all, route) => all + of(route), 0);
  const masked = sum(({ answers }) => answers.masked);
  const answers = sum(({ answers: n }) => n.scored + n.masked + n.unknown + n.uninspectable);
  setText(byId("answers"), count(answers));
  setText(byId("masked"), count(masked));
  setText(byId("translated"), count(sum(({ translated }) => translated)));
  setText(byId("in-flight"), count(status.inFlight));
  setText(byId("held"), bytes(status.heldBytes));
  byId("held-meter").value = status.heldBytes / Math.max(1, status.holdMemoryBytes);
  setText(byId("held-limit"), `of ${bytes(status.holdMemoryBytes)}`);
  setText(byId("spilled"), bytes(status.spilledBytes));
}

function showRecent() {
  const filter = byId("filter").value;
  const shown = recent.filter(({ decision }) => filter === "" || decision === filter).slice(0, 200);
  keepRows(byId("recent").tBodies[0], shown, recentKey, recentRow);
  const none = recent.length === 0 ? "none so far" : "none of these";
  setText(byId("recent-count"), shown.length === 0 ? none : `the last ${shown.length}`);
}

function showCharts() {
  const spanMs = Number(document.querySelector("[name=range]:checked").value) * 1000;
  const stepMs = spanMs > 600_000 ? 60_000 : 10_000;
  const steps = spanMs / stepMs;
  const end = Math.ceil(status.now / stepMs) * stepMs;
  const buckets = history.routes.map((route) => [
    route,
    history.buckets(route, end, stepMs, steps),
  ]);
  const base = { end, spanMs };
  showShare(buckets, base);
  showKinds(buckets, base);
}

function showShare(buckets, base) {
  const limit = status.alert.maskedShare;
  const series = buckets.map(([route, list]) => ({
    route,
    colour: routeColour(route),
    values: list.map(({ answers, masked }) => (answers === 0 ? undefined : masked / answers)),
  }));
  const totals = buckets.map(([route, list]) => {
    const answers = list.reduce((all, bucket) => all + bucket.answers, 0);
    const masked = list.reduce((all, bucket) => all + bucket.masked, 0);
    return { route, answers, masked };
  });
  const label =
    totals.length === 0
      ? "Masked share: no answers in this time."
      : `Masked share: ${totals.map(({ route, answers, masked }) => `${route} ${masked} of ${answers}`).join("; ")}.`;
  draw("share-chart", { series, ...base, limit }, (width) =>
    shareChart(series, { ...base, width, limit, label }),
  );
  const legend = totals.map((total) => [
    total.route,
    `${total.route}: ${total.masked} of ${total.answers}`,
  ]);
  showLegend("share-legend", legend, routeColour, `dashed: alert at ${percent(limit)}`);
  const rows = buckets.flatMap(([route, list]) =>
    list
      .filter(({ answers }) => answers > 0)
      .map(({ start, answers, masked }) => [
        clock(start),
        route,
        count(answers),
        count(masked),
        percent(masked / answers),
      ]),
  );
  showTable("share-table", ["Time", "Route", "Answers", "Masked", "Share"], rows);
}

function showKinds(buckets, base) {
  const kinds = new Map();
  for (const [, list] of buckets) {
    for (const bucket of list) {
      for (const [kind, n] of Object.entries(bucket.kinds))
        kinds.set(kind, (kinds.get(kind) ?? 0) + n);
    }
  }
  const names = [...kinds.keys()];
  const at = (kind, i) => buckets.reduce((all, [, list]) => all + (list[i].kinds[kind] ?? 0), 0);
  const length = base.spanMs > 600_000 ? base.spanMs / 60_000 : base.spanMs / 10_000;
  const series = names.map((kind) => ({
    kind,
    colour: kindColour(kind),
    values: Array.from({ length }, (_, i) => at(kind, i)),
  }));
  const said = [...kinds].map(([kind, n]) => `${kind} ${n}`).join(", ");
  const label = `Masked answers by kind: ${said === "" ? "none in this time" : said}.`;
  draw("kinds-chart", { series, ...base }, (width) =>
    stackedChart(series, { ...base, width, label }),
  );
  const legend = [...kinds].map(([kind, n]) => [kind, `${kind}: ${n}`]);
  showLegend("kinds-legend", legend, kindColour, names.length === 0 ? "none in this time" : "");
  const stepMs = base.spanMs / length;
  const rows = Array.from({ length }, (_, i) => i).flatMap((i) =>
    names
      .filter((kind) => at(kind, i) > 0)
      .map((kind) => [clock(base.end - (length - i) * stepMs), kind, count(at(kind, i))]),
  );
  showTable("kinds-table", ["Time", "Kind", "Answers"], rows);
}

function draw(id, data, chart) {
  const node = byId(id);
  const width = Math.max(280, Math.round(node.clientWidth));
  render(node, { data, width }, () => [chart(width)]);
}

function showLegend(id, entries, colour, more) {
  render(byId(id), { entries, more }, () => [
    ...entries.map(([name, text]) => {
      const mark = element("i", { "aria-hidden": "true" });
      mark.style.background = colour(name);
      return element("span", {}, mark, text);
    }),
    ...(more === "" ? [] : [element("span", { class: "muted" }, more)]),
  ]);
}

function showTable(id, heads, rows) {
  const table = byId(id);
  if (!table.closest("details").open) return;
  render(table, rows, () => [
    element(
      "thead",
      {},
      element("tr", {}, ...heads.map((head) => element("th", { scope: "col" }, head))),
    ),
    element(
      "tbody",
      {},
      ...rows.map((row) => element("tr", {}, ...row.map((cell) => element("td", {}, cell)))),
    ),
  ]);
}

/** What was said last stays, and is no longer shown as if it were so now. */
function onLost() {
  byId("view").classList.add("stale");
  const since = status && ` since ${clock(heard)}; the numbers are old`;
  setState("lost", `no connection${since ?? ""}`);
}

/** Whoever typed the token goes on where the numbers begin. */
function hideToken() {
  const form = byId("token");
  const typed = form.contains(document.activeElement);
  form.hidden = true;
  if (typed) byId("main").focus();
}

function follow() {
  void readEvents({
    status: onStatus,
    lost: onLost,
    refused: (wrong) => {
      setState("lost", "token asked for");
      byId("token").hidden = false;
      setText(byId("token-wrong"), wrong ? "That is not the token." : "");
      byId("token-field").focus();
    },
  });
}

byId("token").addEventListener("submit", (event) => {
  event.preventDefault();
  keepToken(byId("token-field").value);
  follow();
});
byId("filter").addEventListener("change", showRecent);
byId("range").addEventListener("change", showCharts);
for (const details of document.querySelectorAll("details")) {
  details.addEventListener("toggle", () => status && showCharts());
}
new ResizeObserver(() => status && showCharts()).observe(byId("share-chart"));
follow();
