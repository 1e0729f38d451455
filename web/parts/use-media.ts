// Whether a media query holds now, for what CSS alone can't decide.

import { useSyncExternalStore } from "react";

/** @example const isWide = useMedia("(min-width: 64rem)") */
export function useMedia(query: string): boolean {
  return useSyncExternalStore(
    (notify) => {
      const list = matchMedia(query);
      list.addEventListener("change", notify);
      return () => list.removeEventListener("change", notify);
    },
    () => matchMedia(query).matches,
  );
}
