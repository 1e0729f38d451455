// Knows whether the session has ended while the console was open, and leads to the sign-in form and back.

let isEnded = false;
const listeners = new Set<() => void>();

function change(next: boolean): void {
  isEnded = next;
  for (const notify of listeners) notify();
}

/** Called when the server does not know the session any more. */
export const noteSessionEnd = (): void => change(true);
/** Called when it knows one again. */
export const noteSession = (): void => change(false);

export const sessionEnd = {
  subscribe(notify: () => void): () => void {
    listeners.add(notify);
    return () => void listeners.delete(notify);
  },
  get: (): boolean => isEnded,
};

/** Leaves for the sign-in form, which comes back to this page. */
export function signInAgain(): void {
  const here = location.pathname + location.search;
  location.assign(`/login?next=${encodeURIComponent(here)}`);
}
