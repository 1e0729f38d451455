// Notices that the server has another build of the console than this tab, and loads the page again when nothing is lost by it.

import { useEffect, useRef } from "react";
import { useLocation } from "wouter";

let isOutdated = false;
const listeners = new Set<() => void>();

/** Called when the server does not have the files of this tab any more. */
export function noteUpdate(): void {
  if (isOutdated) return;
  isOutdated = true;
  for (const notify of listeners) notify();
}

export const update = {
  subscribe(notify: () => void): () => void {
    listeners.add(notify);
    return () => void listeners.delete(notify);
  },
  get: (): boolean => isOutdated,
};

/** Fields into which somebody has typed. What is searched for is in the address. */
const typedIn = new Set<HTMLInputElement | HTMLTextAreaElement>();
addEventListener(
  "input",
  ({ target }) => {
    const isField = target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement;
    if (!isField || target.type === "search") return;
    for (const field of typedIn) if (!field.isConnected) typedIn.delete(field);
    typedIn.add(target);
  },
  { capture: true },
);

/** Whether the page has a field with something that somebody typed. */
const hasTyped = (): boolean => [...typedIn].some(({ isConnected, value }) => isConnected && value !== "");

let writes = 0;
/** Counts a request that changes something until it is answered: a reload would cut it off. */
export async function whileWriting<T>(work: () => Promise<T>): Promise<T> {
  writes += 1;
  try {
    return await work();
  } finally {
    writes -= 1;
  }
}

let isReloading = false;
/** Loads the page again if nobody loses anything by that. Returns whether it does. */
function reloadIfSafe(): boolean {
  if (isReloading || writes > 0 || hasTyped()) return isReloading;
  isReloading = true;
  location.reload();
  return true;
}

/** The same, if the server was updated. */
export const reloadIfOutdated = (): boolean => isOutdated && reloadIfSafe();

/** The file for which this tab was loaded again. If that did not help, another time does not either. */
const RELOADED_FOR = "berth-reloaded-for";

/** The same, for a file of the code that did not come, once. */
export function reloadForFile(file: string): boolean {
  if (sessionStorage.getItem(RELOADED_FOR) === file || !reloadIfSafe()) return false;
  sessionStorage.setItem(RELOADED_FOR, file);
  return true;
}

export function noteFileCame(file: string): void {
  if (sessionStorage.getItem(RELOADED_FOR) === file) sessionStorage.removeItem(RELOADED_FOR);
}

/** Loads the page anew when somebody goes to another address after an update. */
export function useReloadAfterUpdate(): void {
  const [address] = useLocation();
  const before = useRef(address);
  useEffect(() => {
    if (before.current === address) return;
    before.current = address;
    reloadIfOutdated();
  }, [address]);
}
