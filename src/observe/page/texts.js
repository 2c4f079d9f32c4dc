const UNITS = ["B", "KiB", "MiB", "GiB", "TiB"];

/** A whole number with its thousands apart. */
export function count(n) {
  return n.toLocaleString("en-US");
}

/** A share from 0 to 1. */
export function percent(share) {
  const value = share * 100;
  return `${value > 0 && value < 10 ? value.toFixed(1) : Math.round(value)} %`;
}

/** A size. */
export function bytes(n) {
  let value = n;
  let unit = 0;
  for (; value >= 1024 && unit < UNITS.length - 1; unit++) value /= 1024;
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${UNITS[unit]}`;
}

/** A time of day. */
export function clock(time) {
  return new Date(time).toLocaleTimeString([], { hour12: false });
}

/** A length of time. */
export function span(seconds) {
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  return `${(seconds / 3600).toFixed(1)} h`;
}
