import assert from "node:assert/strict";
import { test } from "node:test";

import { adviceFor } from "../../../static/js/advice.js";

const SENTENCES = { client: "refused", timeout_idle: "stood still", not_found: "no page", no_model: "no model" };

function told(error, http_status = null, error_text = null) {
  return adviceFor({ error, http_status, error_text }, SENTENCES, "Mistral");
}

test("a failure gets its sentence, an answer none", () => {
  assert.equal(told("timeout_idle"), "stood still");
  assert.equal(told("client", 400), "refused");
  assert.deepEqual([told(null, 200), adviceFor(null, SENTENCES, "m"), told("quota_spent")], ["", "", ""]);
});

test("a 404 is about the model only where the server speaks of it", () => {
  assert.deepEqual(["no such model", "`mistral` is unknown", "Not Found", null].map((text) => told("client", 404, text)),
    ["no model", "no model", "no page", "no page"]);
});
