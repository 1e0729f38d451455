// Keeps the pasted key while the page is open: in memory only, so that no other page and no later visitor finds it.

let key = "";
const listeners = new Set<() => void>();

export const pastedKey = () => key;

export function pasteKey(text: string): void {
  key = text.trim();
  for (const listener of listeners) listener();
}

export function onKeyChange(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
