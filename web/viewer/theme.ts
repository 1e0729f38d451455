// Light, dark, or as the system has it; kept for this browser.

export const THEMES = ["system", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

const STORED_AS = "berth-theme";
const listeners = new Set<() => void>();

export function readTheme(): Theme {
  const stored = localStorage.getItem(STORED_AS);
  return THEMES.find((theme) => theme === stored) ?? "system";
}

export function changeTheme(theme: Theme): void {
  localStorage.setItem(STORED_AS, theme);
  applyTheme();
  for (const notify of listeners) notify();
}

export function applyTheme(): void {
  const theme = readTheme();
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

/** Tells canvases, which don't follow CSS, to draw again when the colours change. */
export function onThemeChange(notify: () => void): () => void {
  const system = matchMedia("(prefers-color-scheme: dark)");
  system.addEventListener("change", notify);
  listeners.add(notify);
  return () => {
    system.removeEventListener("change", notify);
    listeners.delete(notify);
  };
}
