// The zone in which times are shown: that of the system, or another one that is kept for this browser.

const STORED_AS = "berth-time-zone";

/** Of the IANA database, such as "Europe/Vienna"; undefined for the system's. */
export const timeZone: string | undefined = readStored();

function readStored(): string | undefined {
  try {
    const stored = globalThis.localStorage?.getItem(STORED_AS) ?? undefined;
    // Throws for a zone that this browser does not know.
    if (stored) new Intl.DateTimeFormat("en", { timeZone: stored });
    return stored;
  } catch {
    return undefined;
  }
}

/** The zone of the viewer by its name, for requests that want one. */
export const viewerZone: string = timeZone ?? new Intl.DateTimeFormat().resolvedOptions().timeZone;

/** Keeps the zone, "" for the system's, and shows the console in it. */
export function changeTimeZone(next: string): void {
  if (next) localStorage.setItem(STORED_AS, next);
  else localStorage.removeItem(STORED_AS);
  location.reload();
}
