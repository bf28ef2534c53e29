// How a page says whether it is live, and that it is not to be believed when it is not.

import { setAttribute, setText } from "./dom.js";
import { clock, span } from "./format.js";

const WORDS = { live: "live", polling: "no live connection, asking every 5 s", connecting: "connecting", lost: "no connection" };

/** Show `live.link`; true where the page is stale: what it shows may long be otherwise. */
export function showLink(live) {
  const link = live.link;
  const stale = link === "lost";
  const line = document.getElementById("link");
  setAttribute(line, "data-link", link);
  setText(line, WORDS[link]);
  const root = document.documentElement;
  if (root.hasAttribute("data-stale") !== stale) {
    root.toggleAttribute("data-stale", stale);
    // Charts take their colours from the page and have to be told that these changed.
    document.dispatchEvent(new Event("themechange"));
  }
  const banner = document.getElementById("stale");
  if (banner) {
    banner.hidden = !stale;
    if (stale) setText(banner, words(live));
  }
  return stale;
}

function words(live) {
  if (live.heardMs == null) return "No connection to the server. Nothing here is current. Trying again.";
  const ago = span(live.now() - live.heardMs);
  return `No connection since ${clock(live.heardMs)}, ${ago} ago: what you see is old. Trying again.`;
}
