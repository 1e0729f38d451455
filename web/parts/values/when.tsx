// A time, relative to now and exact in the tooltip; in the viewer's zone, and it stays right while the page is open.

import { useSyncExternalStore } from "react";
import { formatMoment, formatRelative, formatTime } from "../../viewer/language.ts";

const listeners = new Set<() => void>();
let minute = Math.floor(Date.now() / 60_000);
let timer: ReturnType<typeof setInterval> | undefined;

function subscribe(notify: () => void): () => void {
  listeners.add(notify);
  timer ??= setInterval(() => {
    minute = Math.floor(Date.now() / 60_000);
    for (const one of listeners) one();
  }, 30_000);
  return () => {
    listeners.delete(notify);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** `at`: ISO 8601 or epoch milliseconds. `as` "moment": the time of today, or the date. */
export function When({ at, isExact = false, as }: { at: string | number; isExact?: boolean; as?: "moment" }) {
  useSyncExternalStore(subscribe, () => minute);
  const time = new Date(at);
  const exact = formatTime(time.getTime());
  return (
    <time dateTime={time.toISOString()} title={exact} className="whitespace-nowrap">
      {as === "moment" ? formatMoment(time.getTime()) : isExact ? exact : formatRelative(time.getTime())}
    </time>
  );
}
