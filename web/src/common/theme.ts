// Light or dark: as the system says, until the reader chooses.
import { h } from "./dom";

const KEY = "stickslip-theme";
const system = matchMedia("(prefers-color-scheme: dark)");

// Storage may be closed to a page that was opened as a file.
function stored(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}
function store(theme: string): void {
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    /* the choice lasts as long as the page */
  }
}

export const isDark = (): boolean => document.documentElement.dataset.theme === "dark";

/** Sets the theme and returns the button that changes it; `changed` is called after every change. */
export function themeButton(changed?: () => void): HTMLButtonElement {
  let chosen = stored();
  const button = h("button", { type: "button", class: "theme", onclick: () => choose(isDark() ? "light" : "dark") });
  function show(): void {
    const dark = chosen ? chosen === "dark" : system.matches;
    document.documentElement.dataset.theme = dark ? "dark" : "light";
    button.textContent = dark ? "Light" : "Dark";
    button.title = `Change to ${dark ? "light" : "dark"} colours`;
    button.setAttribute("aria-label", button.title);
    changed?.();
  }
  function choose(theme: string): void {
    chosen = theme;
    store(theme);
    show();
  }
  system.addEventListener("change", show);
  show();
  return button;
}
