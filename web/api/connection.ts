// Knows whether the server can be reached. A change of the network, a broken stream of events and a failed request make it
// look; while nothing answers it looks again each second, and at once when the network or the person comes back.

import { noteUpdate } from "./update.ts";

/** So many looks come once a second; later ones are rare, because a forgotten tab must cost a server little. */
const EAGER_LOOKS = 60;
const EAGER_MS = 1_000;
const RARE_MS = 5_000;
/** A server that takes longer is as good as away. */
const PATIENCE_MS = 2_000;

let isReachable = true;
let missed = 0;
let looking: Promise<boolean> | undefined;
let nextLook: ReturnType<typeof setTimeout> | undefined;
const stateListeners = new Set<() => void>();
const returnListeners = new Set<() => void>();

function change(next: boolean): void {
  clearTimeout(nextLook);
  if (next) missed = 0;
  else nextLook = setTimeout(() => void look(), ++missed > EAGER_LOOKS ? RARE_MS : EAGER_MS);
  if (isReachable === next) return;
  isReachable = next;
  for (const notify of stateListeners) notify();
  if (next) for (const notify of returnListeners) notify();
}

/** Asks the server for the script that this page runs, and resolves whether an answer came. Another build does not have it. */
export function look(): Promise<boolean> {
  looking ??= ask().then((isThere) => {
    looking = undefined;
    change(isThere);
    return isThere;
  });
  return looking;
}

async function ask(): Promise<boolean> {
  const script = document.querySelector<HTMLScriptElement>("script[type=module][src]")?.src ?? "/";
  try {
    const signal = AbortSignal.timeout(PATIENCE_MS);
    const { status } = await fetch(script, { method: "HEAD", cache: "no-store", signal });
    if (status === 404) noteUpdate();
    // A proxy answers with 502 to 504 for a server that is away.
    return status < 500;
  } catch {
    return false;
  }
}

/** Called when a request was answered: that is as good as a look. */
export function noteAnswer(): void {
  if (!isReachable) change(true);
}

/** Calls `notify`, which must stay the same function, whenever the server can be reached again; returns what ends that. */
export function onReturn(notify: () => void): () => void {
  returnListeners.add(notify);
  return () => void returnListeners.delete(notify);
}

export const connection = {
  subscribe(notify: () => void): () => void {
    stateListeners.add(notify);
    return () => void stateListeners.delete(notify);
  },
  get: (): boolean => isReachable,
};

/** Starts to watch the browser's own signs. Its word alone is not enough: a server on the same machine needs no network. */
export function watchConnection(): void {
  const lookAgain = () => {
    if (!isReachable && document.visibilityState === "visible") void look();
  };
  addEventListener("offline", () => void look());
  addEventListener("online", () => void look());
  addEventListener("focus", lookAgain);
  document.addEventListener("visibilitychange", lookAgain);
}
