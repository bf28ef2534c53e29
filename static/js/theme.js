// Dark or light, before the first paint: what was chosen, else what the system prefers.
// A classic script on purpose; a module would run after the page was painted.
(() => {
  const root = document.documentElement;
  const KEY = "tokenpulse-theme";
  const system = matchMedia("(prefers-color-scheme: light)");
  let chosen = null;
  try {
    chosen = localStorage.getItem(KEY);
  } catch {
    // Storage is blocked: the system's preference serves.
  }

  function show() {
    if (root.hasAttribute("data-theme-fixed")) return;
    root.dataset.theme = chosen ?? (system.matches ? "light" : "dark");
    tell();
    document.dispatchEvent(new Event("themechange"));
  }

  /** The button says which theme is on, and to whom does not see it, what it does. */
  function tell() {
    const button = document.querySelector("[data-theme-toggle]");
    if (!button) return;
    const { theme } = root.dataset;
    button.textContent = `Theme: ${theme}`;
    button.setAttribute("aria-label", `Theme: ${theme}. Switch to ${theme === "light" ? "dark" : "light"}`);
  }

  document.addEventListener("click", (event) => {
    if (!event.target.closest("[data-theme-toggle]")) return;
    chosen = root.dataset.theme === "light" ? "dark" : "light";
    try {
      localStorage.setItem(KEY, chosen);
    } catch {
      // Then the choice holds for this page.
    }
    show();
  });
  system.addEventListener("change", show);
  document.addEventListener("DOMContentLoaded", tell);
  show();
})();
