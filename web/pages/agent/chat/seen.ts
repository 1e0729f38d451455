// Remembers in this browser up to when each conversation was read, so that the list can mark what is new.

import { useCallback, useState } from "react";

interface Seen {
  /** What was before the first visit counts as read. */
  since: string;
  /** The last activity that was seen, by conversation. */
  at: Record<string, string>;
}

const KEPT = 300;

export function useSeen(agentId: string) {
  const storedAs = `berth-seen ${agentId}`;
  const [seen, setSeen] = useState(() => read(storedAs));
  const markSeen = useCallback(
    (id: string, at: string) =>
      setSeen((before) => {
        if ((before.at[id] ?? before.since) >= at) return before;
        const { [id]: _, ...others } = before.at;
        const next = { ...before, at: Object.fromEntries([...Object.entries(others).slice(1 - KEPT), [id, at]]) };
        localStorage.setItem(storedAs, JSON.stringify(next));
        return next;
      }),
    [storedAs],
  );
  return { markSeen, isUnseen: (id: string, at: string) => (seen.at[id] ?? seen.since) < at };
}

function read(storedAs: string): Seen {
  const stored = localStorage.getItem(storedAs);
  if (stored !== null) return JSON.parse(stored) as Seen;
  const fresh = { since: new Date().toISOString(), at: {} };
  localStorage.setItem(storedAs, JSON.stringify(fresh));
  return fresh;
}
