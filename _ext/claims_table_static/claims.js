// Filter the tables of claims by verdict and by word. The form and all rows stand in the page; this only hides and shows.
// @ts-check
"use strict";
(() => {
  const form = /** @type {HTMLFormElement} */ (document.querySelector(".claims-filter"));
  const status = /** @type {HTMLElement} */ (document.querySelector(".claims-shown"));
  const field = /** @type {HTMLInputElement} */ (form.querySelector("input[type=search]"));
  const button = /** @type {HTMLButtonElement} */ (form.querySelector("button"));
  const boxes = /** @type {HTMLInputElement[]} */ ([...form.querySelectorAll("input[type=checkbox]")]);

  /** One spelling for what keyboards and typesetters write differently. @param {string} text */
  const plain = (text) => text.toLowerCase().normalize("NFKD").replace(/[‐-―−]/g, "-").replace(/[‘’]/g, "'").replace(/[“”]/g, '"')
    .replace(/\p{M}/gu, "").replace(/\s+/g, " ");

  const tables = [...document.querySelectorAll("table.claims")].map((table) => ({
    frame: /** @type {HTMLElement} */ (table.parentElement),
    none: /** @type {HTMLElement} */ (table.closest("section")?.querySelector(".claims-none")),
    rows: /** @type {HTMLTableRowElement[]} */ ([...table.querySelectorAll("tbody tr")]).map((row) => ({ row, text: plain(row.textContent ?? "") })),
  }));
  const total = tables.reduce((sum, { rows }) => sum + rows.length, 0);

  /** @param {string[]} names @param {string} words @param {number} shown */
  function said(names, words, shown) {
    if (!names.length && !words) return `All ${total} claims are shown.`;
    const chosen = [names.length ? names.join(" or ") : "", words ? `with “${words}”` : ""].filter(Boolean).join(", ");
    return `${shown} of ${total} claims ${shown === 1 ? "is" : "are"} shown: ${chosen}.`;
  }

  function apply() {
    const chosen = boxes.filter((box) => box.checked);
    const words = field.value.trim().replace(/\s+/g, " ");
    const parts = plain(words).split(" ").filter(Boolean);
    let shown = 0;
    for (const { frame, none, rows } of tables) {
      let here = 0;
      for (const { row, text } of rows) {
        const fits = (!chosen.length || chosen.some((box) => row.classList.contains(`claim-${box.value}`))) && parts.every((part) => text.includes(part));
        row.hidden = !fits;
        here += Number(fits);
      }
      frame.hidden = !here;
      none.hidden = Boolean(here);
      shown += here;
    }
    button.disabled = !chosen.length && !words;
    const names = chosen.map((box) => box.parentElement?.querySelector(".verdict")?.textContent ?? "");
    const text = said(names, words, shown);
    if (status.textContent !== text) status.textContent = text;
  }

  form.addEventListener("input", apply);
  form.addEventListener("submit", (event) => event.preventDefault());
  button.addEventListener("click", () => {
    form.reset();
    apply();
    field.focus();  // the button is about to be disabled: keep the keyboard's place
  });
  // A browser may bring back what was chosen before a reload or on the way back.
  addEventListener("pageshow", apply);
  form.classList.add("works");
  apply();
})();
