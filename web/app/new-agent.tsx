// Opens the dialog that makes an agent, from anywhere; its code is loaded at the first use.

import { useEffect, useSyncExternalStore } from "react";
import { useLocation } from "wouter";
import { lazyDialog } from "../parts/lazy.tsx";
import { currentPath } from "../viewer/address.ts";
import { loadTexts } from "../viewer/language.ts";

const NewAgentDialog = lazyDialog(
  async () => (await Promise.all([import("../pages/new-agent/index.tsx"), loadTexts("new-agent")]))[0],
);

interface Wanted {
  /** The template that is chosen at first, "" for none in particular. */
  template: string;
  /** The path of the page over which it was opened. */
  at: string;
}

/** undefined while the dialog is closed. */
let wanted: Wanted | undefined;
const listeners = new Set<() => void>();

function change(next?: Wanted): void {
  wanted = next;
  for (const notify of listeners) notify();
}

function subscribe(notify: () => void): () => void {
  listeners.add(notify);
  return () => listeners.delete(notify);
}

/** @param template the id of the one that is chosen at first */
export const openNewAgent = (template = ""): void => change({ template, at: currentPath() });

/** The dialog, while it is open. A link in it leads away from it. */
export function NewAgent() {
  const open = useSyncExternalStore(subscribe, () => wanted);
  const [path] = useLocation();
  const isLeft = open !== undefined && open.at !== path;
  useEffect(() => {
    if (isLeft) change();
  }, [isLeft]);
  if (!open || isLeft) return null;
  return <NewAgentDialog template={open.template} onClose={() => change()} />;
}
