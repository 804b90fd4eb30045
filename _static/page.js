// What a page needs beyond the theme: printing, and keyboard access to whatever scrolls sideways.
"use strict";
(() => {
  const SCROLLERS = ".formula, span.math, .pst-scrollable-table-container, .cell_output > .output, .table-scroll";

  /** Let the keyboard reach an element that scrolls inside itself, and only while it does. */
  function markScrollers() {
    for (const element of document.querySelectorAll(SCROLLERS)) {
      const scrolls = element.scrollWidth > element.clientWidth;
      if (scrolls) {
        element.tabIndex = 0;
        element.setAttribute("role", "group");
        element.setAttribute("aria-label", element.matches(".formula, .math") ? "Formula, scrolls sideways" : "Scrolls sideways");
      } else if (element.getAttribute("role") === "group") {
        element.removeAttribute("tabindex");
        element.removeAttribute("role");
        element.removeAttribute("aria-label");
      }
    }
  }

  /** Paper has no buttons: print folded answers and code open, then fold them again. */
  function unfoldForPrint() {
    const folded = [...document.querySelectorAll("details:not([open])")];
    for (const details of folded) details.open = true;
    addEventListener("afterprint", () => { for (const details of folded) details.open = false; }, { once: true });
  }

  // The search page reads other pages to show the words around a hit; a page opened from disk may not.
  function searchFromDisk() {
    if (location.protocol === "file:" && typeof DOCUMENTATION_OPTIONS !== "undefined") {
      DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
    }
  }

  // Know the colours before the first paint: the theme's own script sets them only at the end of the page.
  if (document.documentElement.dataset.theme === "auto") {
    document.documentElement.dataset.theme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  }

  addEventListener("beforeprint", unfoldForPrint);
  searchFromDisk();
  document.addEventListener("DOMContentLoaded", () => {
    document.addEventListener("click", (event) => {
      if (event.target instanceof Element && event.target.closest("[data-print]")) window.print();
    });
    markScrollers();
    new ResizeObserver(markScrollers).observe(document.body);
  });
})();
