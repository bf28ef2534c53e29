// One tile: its texts, and what its age says of them.

import { setAttribute, setText } from "./dom.js";
import { FIGURES, breaks, limit, parts, passed, span } from "./format.js";
import { STATES, ageMs, isOld, shown } from "./states.js";

/** Put what is known of `tile` into its element; `failures` has the words for errors. */
export function fill(view, tile, failures) {
  const { latest, leading } = tile;
  view.dataset.told = tile.state.state;
  setAttribute(view, "data-colour", String(tile.colour));
  setAttribute(view.querySelector("[data-url]"), "href", tile.url);
  setText(view.querySelector("[data-endpoint]"), tile.endpoint);
  setText(view.querySelector("[data-scenario]"), tile.scenario);
  const others = Object.keys(FIGURES).filter((name) => name !== leading);
  view.querySelectorAll("[data-other]").forEach((element, i) => {
    showFigure(element, others[i], latest?.[others[i]], tile.limits[others[i]]);
  });
  const lead = view.querySelector("[data-lead]");
  showFigure(lead, leading, latest?.ok === false ? null : latest?.[leading], tile.limits[leading]);
  const error = latest?.error ? (failures[latest.error] ?? latest.error) : null;
  lead.toggleAttribute("data-error", error != null);
  if (error) {
    setText(lead.querySelector("[data-value]"), error);
    setText(lead.querySelector("[data-name]"), "");
  }
  if (!lead.hasAttribute("data-breaks")) {
    setText(lead.querySelector("[data-bound]"), error ? "" : limit(leading, tile.limits[leading]));
  }
  setText(view.querySelector("[data-why]"), tile.state.why ?? "");
  // On the link, which covers the tile: what the line cuts off can be read in full.
  setAttribute(view.querySelector("[data-url]"), "title", tile.state.why || null);
}

function showFigure(element, name, value, bound) {
  const [number, unit] = parts(name, value);
  setText(element.querySelector("[data-value]"), number);
  setText(element.querySelector("[data-unit]"), unit);
  setText(element.querySelector("[data-name]"), FIGURES[name].name);
  const told = `${FIGURES[name].about}, of the last probe${bound == null ? "" : `; limit ${limit(name, bound)}`}`;
  setAttribute(element, "title", told);
  setAttribute(element, "data-figure", name);
  const bad = breaks(name, value, bound);
  element.toggleAttribute("data-breaks", bad);
  setText(element.querySelector("[data-bound]"), bad ? passed(name, bound) : "");
}

/** Show how old the newest sample is, and the word that this leaves of the server's. */
export function age(view, tile, now) {
  const ms = ageMs(tile, now);
  const state = shown(tile, now);
  setText(view.querySelector("[data-age]"), ms == null ? "no sample yet" : `${span(ms)} ago`);
  view.toggleAttribute("data-old", isOld(tile, now));
  setAttribute(view, "data-state", state);
  setText(view.querySelector(".shape"), STATES[state].shape);
  setText(view.querySelector(".word"), STATES[state].word);
}
