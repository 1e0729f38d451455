// Says above each page that the connection is lost, or that Berth was updated under the open page.

import { useEffect, useState, useSyncExternalStore } from "react";
import { connection } from "../api/connection.ts";
import { update } from "../api/update.ts";
import { t } from "../viewer/language.ts";

/** A shorter break is over before anybody has read about it. */
const SHORT_MS = 1_500;

export function ConnectionBanner() {
  const isReachable = useSyncExternalStore(connection.subscribe, connection.get);
  const isOutdated = useSyncExternalStore(update.subscribe, update.get);
  const [isLate, setLate] = useState(false);
  useEffect(() => {
    if (isReachable) return setLate(false);
    const timer = setTimeout(() => setLate(true), SHORT_MS);
    return () => clearTimeout(timer);
  }, [isReachable]);
  const isLost = isLate && !isReachable;
  return (
    <div role="status" className="sticky top-12 z-20 shrink-0 text-sm md:top-0">
      {isLost && (
        <p className="bg-warn-wash px-4 py-1.5 text-warn">
          {t("The connection to Berth is lost. This page catches up when it is back; nothing is lost.")}
        </p>
      )}
      {isOutdated && !isLost && (
        <p className="bg-wash px-4 py-1.5 text-ink">
          {t("Berth was updated. Finish what you type, then load the page again.")}{" "}
          <button type="button" className="text-sea underline" onClick={() => location.reload()}>
            {t("Load again")}
          </button>
        </p>
      )}
    </div>
  );
}
