// Opens the dialog that makes an agent, from anywhere; its code is loaded at the first use.

import { useSyncExternalStore } from "react";
import { loadTexts } from "./language.ts";
import { lazyDialog } from "./lazy.tsx";

const NewAgentDialog = lazyDialog(
  async () => (await Promise.all([import("../pages/new-agent/index.tsx"), loadTexts("new-agent")]))[0],
);

/** The template that is chosen at first, "" for none in particular; undefined while the dialog is closed. */
let wanted: string | undefined;
const listeners = new Set<() => void>();

function change(next: string | undefined): void {
  wanted = next;
  for (const notify of listeners) notify();
}

function subscribe(notify: () => void): () => void {
  listeners.add(notify);
  return () => listeners.delete(notify);
}

/** In place of a template's id: without one. */
export const FROM_SCRATCH = "none";

/** @param template the id of the one that is chosen at first */
export const openNewAgent = (template = ""): void => change(template);

/** The dialog, while it is open. */
export function NewAgent() {
  const template = useSyncExternalStore(subscribe, () => wanted);
  if (template === undefined) return null;
  return <NewAgentDialog template={template} onClose={() => change(undefined)} />;
}
