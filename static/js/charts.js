// Puts plots on the page. The only module that names Plotly.

import { spark, timeline } from "./plots.js";
import { chart } from "./seriesplot.js";

const CONFIG = { staticPlot: false, displayModeBar: false, responsive: false, showTips: false };
const STATIC = { ...CONFIG, staticPlot: true };
const NAMES = ["series", "muted", "text", "line", "edge", "raised", "panel", "gap", "failing"];

function colours(element) {
  const style = getComputedStyle(element);
  return Object.fromEntries(NAMES.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
}

function size(element) {
  const rem = parseFloat(getComputedStyle(document.documentElement).fontSize);
  return {
    width: element.clientWidth, height: element.clientHeight, line: Math.max(1.5, rem / 10),
    text: rem * 0.8125, font: getComputedStyle(document.body).fontFamily,
  };
}

function put(element, plot, config) {
  if (!element.clientWidth || !element.clientHeight) return;
  window.Plotly.react(element, plot.data, plot.layout, config);
}

export function drawSpark(element, tile) {
  put(element, spark(tile, colours(element), size(element)), STATIC);
}

export function drawChart(element, series, name) {
  const offsetMin = new Date(series.to_ms).getTimezoneOffset();
  put(element, chart(series, name, colours(element), size(element), offsetMin), CONFIG);
}

export function drawTimeline(element, pairs) {
  put(element, timeline(pairs, colours(element), size(element)), CONFIG);
}

/** Free what a chart holds before its element goes. */
export function purge(element) {
  window.Plotly.purge(element);
}
