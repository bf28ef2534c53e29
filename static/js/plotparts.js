// What several charts share, as parts of Plotly's data and layout. Pure.

export const CLEAR = "rgba(0,0,0,0)";
export const HIDDEN_AXIS = { visible: false, fixedrange: true };
/** Failures lie on the bottom edge, whatever the scale of the figures is. */
export const FAILURE_AXIS = { ...HIDDEN_AXIS, overlaying: "y", range: [0, 1] };

/** `#56b4e9` at `alpha`. */
export function fade(hex, alpha) {
  const [r, g, b] = [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
  return `rgba(${r},${g},${b},${alpha})`;
}

/** The upper end of an axis from zero that shows all of `values`, with some air. */
export function top(...values) {
  return Math.max(0, ...values.filter((value) => value != null)) * 1.1 || 1;
}

export function failures(xs, colours, size, text) {
  return {
    x: xs,
    y: xs.map(() => 0.06),
    yaxis: "y2",
    type: "scatter",
    mode: "markers",
    marker: { symbol: "x-thin", size: 4.5 * size.line, line: { color: colours.failing, width: size.line } },
    text,
    hovertemplate: "%{text}<extra></extra>",
    cliponaxis: false,
  };
}

export function frame(size, margin) {
  return {
    width: size.width,
    height: size.height,
    margin,
    showlegend: false,
    dragmode: false,
    paper_bgcolor: CLEAR,
    plot_bgcolor: CLEAR,
  };
}

/** An axis with a grid, in the page's colours. */
export function ruled(colours) {
  return {
    fixedrange: true,
    gridcolor: colours.line,
    zerolinecolor: colours.edge,
    ticks: "outside",
    ticklen: 6,
    tickcolor: CLEAR,
    tickfont: { color: colours.muted },
  };
}
