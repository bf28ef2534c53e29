// Figures, ages and clocks as people read them. Pure: no page, no clock of its own.

export const FIGURES = {
  ttft_ms: { name: "TTFT", unit: "ms", limit: "≤", tail: "p95", about: "time to first token" },
  tokens_per_second: {
    name: "tokens/s",
    unit: "tok/s",
    limit: "≥",
    tail: "p5",
    about: "decode rate: tokens after the first chunk, by the time they took",
  },
  total_ms: { name: "completion", unit: "ms", limit: "≤", tail: "p95", about: "time to the last token" },
};

/** All that a sample is judged by. The longest wait has a limit, but no chart and no tile. */
export const JUDGED = {
  ...FIGURES,
  max_gap_ms: { name: "longest wait", unit: "ms", limit: "≤", about: "longest time between two chunks" },
};

/** Whether `value` breaks `limit`; a rate's limit is a floor, a duration's a ceiling. */
export function breaks(figure, value, limit) {
  if (value == null || limit == null) return false;
  return JUDGED[figure].limit === "≥" ? value < limit : value > limit;
}

/** Which limits `sample` breaks, in words: `["TTFT over 1 s", "tokens/s under 15"]`. */
export function broken(sample, limits) {
  return Object.keys(JUDGED)
    .filter((name) => breaks(name, sample[name], limits?.[name]))
    .map((name) => {
      const rate = name === "tokens_per_second";
      return `${JUDGED[name].name} ${rate ? "under" : "over"} ${size(name, limits[name])[0]}`;
    });
}

/** A figure as [number, unit], each a string; a dash where there is none. Two or three
 * digits, and in each range of sizes always as many decimals, so that none jump. */
export function parts(figure, value) {
  if (value == null) return ["–", ""];
  if (figure === "tokens_per_second") return [value.toFixed(value < 9.95 ? 1 : 0), "tok/s"];
  if (value < 999.5) return [value.toFixed(value < 9.95 ? 1 : 0), "ms"];
  const seconds = value / 1000;
  return [seconds.toFixed(seconds < 9.995 ? 2 : seconds < 99.95 ? 1 : 0), "s"];
}

/** `842 ms`, `7.42 s`, `61 tok/s`. */
export function figure(name, value) {
  return parts(name, value).join(" ").trim();
}

/** A limit's size, without zeros that nobody wrote, and the unit that a rate's lacks. */
function size(name, value) {
  if (name === "tokens_per_second") return [String(Number(value.toPrecision(3))), " tok/s"];
  const [number, unit] = value < 1000 ? [value, "ms"] : [value / 1000, "s"];
  return [`${Number(number.toPrecision(3))} ${unit}`, ""];
}

/** `≤ 1.5 s`, `≥ 15 tok/s`. Empty where there is none. */
export function limit(name, value) {
  return value == null ? "" : `${JUDGED[name].limit} ${size(name, value).join("")}`;
}

/** The limit as it stands beside a figure that breaks it: `> 1.5 s`, `< 15`. */
export function passed(name, value) {
  return `${JUDGED[name].limit === "≥" ? "<" : ">"} ${size(name, value)[0]}`;
}

/** `12 s`, `4 min`, `3 h`, `2 d`: one unit, rounded down. */
export function span(ms) {
  const s = Math.max(0, Math.floor(ms / 1000));
  if (s < 100) return `${s} s`;
  if (s < 6000) return `${Math.floor(s / 60)} min`;
  if (s < 48 * 3600) return `${Math.floor(s / 3600)} h`;
  return `${Math.floor(s / 86400)} d`;
}

/** Time of day in the reader's zone, or in `timeZone` (an IANA name). */
export function clock(ms, timeZone) {
  return new Date(ms).toLocaleTimeString("en-GB", { timeZone });
}

/** `2026-11-30 14:05:09` in the reader's zone, or in `timeZone`. */
export function moment(ms, timeZone) {
  return new Date(ms).toLocaleString("sv-SE", { timeZone });
}

/** The zone's short name, as it is at `ms`: `CET`, `GMT+5:30`. */
export function zone(ms, timeZone) {
  const options = { timeZone, timeZoneName: "short" };
  const found = new Intl.DateTimeFormat("en-GB", options).formatToParts(new Date(ms));
  return found.find((part) => part.type === "timeZoneName")?.value ?? "";
}
