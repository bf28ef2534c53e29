// What a monitor's word looks like, and when a page may no longer believe it. Pure.

export const STATES = {
  failing: { shape: "▲", word: "failing" },
  degrading: { shape: "◆", word: "degrading" },
  stable: { shape: "●", word: "stable" },
  no_data: { shape: "○", word: "not enough data" },
  paused: { shape: "‖", word: "paused" },
};

/** A word that this page does not know must not look like a good one. */
export function known(state) {
  return Object.hasOwn(STATES, state) ? state : "no_data";
}

/** How old the newest sample may be until it no longer speaks for the present. */
export function oldAfterMs(intervalS) {
  return Math.max(3 * intervalS, intervalS + 30) * 1000;
}

export function ageMs(tile, nowMs) {
  return tile.latest ? Math.max(0, nowMs - tile.latest.due_ms) : null;
}

export function isOld(tile, nowMs) {
  if (known(tile.state.state) === "paused") return false;
  const age = ageMs(tile, nowMs);
  return age != null && age > oldAfterMs(tile.interval_s);
}

/** The server's word, or less: a page may only downgrade what it was told. */
export function shown(tile, nowMs) {
  return isOld(tile, nowMs) ? "no_data" : known(tile.state.state);
}

/** Failing first, then by name. */
export function compare(a, b) {
  const failing = (tile) => (tile.state.state === "failing" ? 0 : 1);
  return (
    failing(a) - failing(b) ||
    a.endpoint.localeCompare(b.endpoint) ||
    a.scenario.localeCompare(b.scenario) ||
    a.monitor - b.monitor
  );
}

/** The worst of `states`, for the frame of a wall. */
export function worst(states) {
  return Object.keys(STATES).find((state) => states.includes(state)) ?? "no_data";
}
