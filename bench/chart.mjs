// node bench/chart.mjs REPORT.json OUT.svg: how the cost of one answer grows with its size and with the number of connections.
import { readFileSync, writeFileSync } from "node:fs";
import { ANSWERS } from "./answers.mjs";
import { median } from "./table.mjs";

const SIZES = [
  ["2k", "2 kB"],
  ["64k", "64 kB"],
  ["1m", "1 MB"],
  ["16m", "16 MB"],
];
const CONNECTIONS = [
  ["2k-alone", "1"],
  ["2k", "16"],
  ["2k-128", "128"],
  ["delay", "1,000"],
];
const PEERS = [
  ["maskgate strict", "#c2410c", ""],
  ["maskgate observe", "#ea9a5a", ""],
  ["maskgate passthrough", "#f0c49a", ""],
  ["nginx", "#15803d", "5 3"],
  ["nginx + Lua", "#15803d", ""],
  ["http-proxy-3", "#1d4ed8", "5 3"],
  ["http-proxy-3 + JSON.parse", "#1d4ed8", ""],
  ["Go ReverseProxy", "#7e22ce", ""],
];
const WIDTH = 360;
const HEIGHT = 260;
const LEFT = 62;
const TOP = 44;

const [reportFile, out] = process.argv.slice(2);
const { rows, time, commit } = JSON.parse(readFileSync(reportFile, "utf8"));

/** CPU time for one answer, in microseconds; undefined where it was not measured. */
function costOf(cell, peer) {
  const own = rows.filter((row) => row.cell === cell && row.peer === peer && !row.error);
  return median(own.map(({ cpuUs }) => cpuUs).filter((cost) => cost > 0));
}

const escaped = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
const text = (x, y, says, more = "") =>
  `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" ${more}>${escaped(says)}</text>`;
const shown = (us) => (us < 1000 ? `${us} µs` : us < 1e6 ? `${us / 1000} ms` : `${us / 1e6} s`);

/** One panel: logarithmic upwards, one step to the right for each cell. */
function panel(left, title, cells) {
  const lines = PEERS.map(([peer, colour, dash]) => ({
    colour,
    dash,
    costs: cells.map(([cell]) => costOf(cell, peer)),
  }));
  const all = lines.flatMap(({ costs }) => costs).filter((cost) => cost !== undefined);
  const low = Math.floor(Math.log10(Math.min(...all)));
  const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...all))));
  const x = (n) => left + LEFT + (n * (WIDTH - 20)) / (cells.length - 1);
  const y = (us) => TOP + HEIGHT - ((Math.log10(us) - low) / (high - low)) * HEIGHT;
  const grid = Array.from({ length: high - low + 1 }, (_, n) => 10 ** (low + n)).map(
    (us) =>
      `<path d="M${x(0)} ${y(us).toFixed(1)}H${x(cells.length - 1)}" stroke="#ddd"/>${text(x(0) - 8, y(us) + 4, shown(us), 'text-anchor="end"')}`,
  );
  const ticks = cells.map(([, says], n) =>
    text(x(n), TOP + HEIGHT + 18, says, 'text-anchor="middle"'),
  );
  const drawn = lines.map(({ colour, dash, costs }) => {
    const points = costs.flatMap((us, n) => (us === undefined ? [] : [[x(n), y(us)]]));
    const path = points.map(([px, py]) => `${px.toFixed(1)},${py.toFixed(1)}`).join(" ");
    const dots = points.map(
      ([px, py]) =>
        `<circle cx="${px.toFixed(1)}" cy="${py.toFixed(1)}" r="2.5" fill="${colour}"/>`,
    );
    return `<polyline points="${path}" fill="none" stroke="${colour}" stroke-width="1.8" stroke-dasharray="${dash}"/>${dots.join("")}`;
  });
  return [text(x(0), 24, title, 'font-weight="bold"'), ...grid, ...ticks, ...drawn].join("\n");
}

const step = WIDTH + LEFT + 20;
const legendTop = TOP + HEIGHT + 48;
const legend = PEERS.map(([peer, colour, dash], n) => {
  const left = LEFT + (n % 4) * 200;
  const top = legendTop + Math.floor(n / 4) * 20;
  return `<path d="M${left} ${top - 4}h24" stroke="${colour}" stroke-width="1.8" stroke-dasharray="${dash}"/>${text(left + 30, top, peer)}`;
});
const height = legendTop + 50;
writeFileSync(
  out,
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${2 * step} ${height}" font-family="sans-serif" font-size="12" fill="#333">
<title>CPU time of the proxy for one answer, against its size and against the connections at once</title>
<rect width="100%" height="100%" fill="#fff"/>
${panel(0, "CPU time for one answer, by its size", SIZES)}
${panel(step, "CPU time for one answer of 2 kB, by connections", CONNECTIONS)}
${legend.join("\n")}
${text(LEFT, height - 6, `${time.slice(0, 10)}, commit ${commit}; 1,000 connections: the upstream waits 200 ms; 2 to 1,024 KiB at 16 connections, ${ANSWERS["16m"].bytes / 2 ** 20} MiB at 32`, 'fill="#777" font-size="10"')}
</svg>
`,
);
