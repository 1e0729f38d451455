// Remembers which sudden end of the service somebody has dismissed, for this browser; the next one is shown again.

import { useState } from "react";
import type { Problem } from "../api-types.ts";

const STORED_AS = "berth-dismissed-stop";

/** What tells one sudden end from another; undefined for problems that stay until they are solved. */
const stopOf = ({ code, values }: Problem): string | undefined =>
  code.startsWith("STOPPED_SUDDENLY") ? String(values.stoppedAt) : undefined;

export function useDismissed(problems: readonly Problem[]) {
  const [dismissed, setDismissed] = useState(() => localStorage.getItem(STORED_AS));
  return {
    shown: problems.filter((problem) => stopOf(problem) !== dismissed),
    /** The function that dismisses a problem; undefined where that can't be done. */
    dismissOf(problem: Problem): (() => void) | undefined {
      const stop = stopOf(problem);
      if (stop === undefined) return undefined;
      return () => {
        localStorage.setItem(STORED_AS, stop);
        setDismissed(stop);
      };
    },
  };
}
