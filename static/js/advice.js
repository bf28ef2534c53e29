// Which sentence of advice a failed sample gets; `dashboard/advice.py` wrote them. Pure.

/** `sentences` by failure, with `not_found` and `no_model` for what a 404 can mean. */
export function adviceFor(sample, sentences, model) {
  if (!sample?.error) return "";
  return sentences[sample.http_status === 404 ? missing(sample, model) : sample.error] ?? "";
}

/** A server that speaks of the model has found the address. */
function missing({ error_text: text }, model) {
  const told = (text ?? "").toLowerCase();
  return told.includes("model") || told.includes(model.toLowerCase()) ? "no_model" : "not_found";
}
