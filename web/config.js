// SPDX-License-Identifier: MIT
// How an eval was configured and started.
import { html, useAnswer, Trouble } from "./base.js";
import { Code } from "./text.js";

export function Config({ id }) {
  const { value, failure } = useAnswer(`/api/view/evals/${encodeURIComponent(id)}/config`, {}, [id]);
  return html`<div class="part-page"><${Trouble} failure=${failure} />${value && html`
    <h2>Configuration</h2><p class="muted">As it was read; secrets are left out.</p><${Code} text=${value.config} language="json" label="Configuration" />
    <h2>How it was started</h2><${Code} text=${value.options} language="json" label="Options" />`}</div>`;
}
