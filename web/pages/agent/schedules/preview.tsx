// The next five runs of what is being chosen, in the viewer's zone and that of the schedule.

import { ApiError } from "../../../api/errors.ts";
import { Skeleton } from "../../../parts/skeleton.tsx";
import { t } from "../../../viewer/language.ts";
import type { usePreview } from "./data.ts";
import { formatRun, OWN_ZONE } from "./timing.ts";

interface Props {
  preview: ReturnType<typeof usePreview>;
  timezone: string;
  /** Something is not chosen yet. */
  isOpen: boolean;
}

export function Preview({ preview: { data, error }, timezone, isOpen }: Props) {
  const isElsewhere = timezone !== OWN_ZONE;
  return (
    <section aria-label={t("The next runs")} aria-live="polite" className="rounded-large bg-well px-3.5 py-3">
      <h3 className="font-medium text-sm">{isElsewhere ? t("The next runs, in your time") : t("The next runs")}</h3>
      <div className="mt-1 min-h-28">
        {isOpen && <p className="text-soft">{t("Choose when it runs.")}</p>}
        {!isOpen && error && (
          <p className="text-soft">
            {error instanceof ApiError
              ? t("It would never run like this.")
              : t("The server can't be reached now. You can go on.")}
          </p>
        )}
        {!isOpen && !error && !data && <Skeleton className="mt-1 h-24 w-2/3" />}
        {!isOpen && !error && data && (
          <ol>
            {data.next.map((at) => (
              <li key={at} className="flex flex-wrap gap-x-2">
                <time dateTime={at}>{formatRun(at)}</time>
                {isElsewhere && (
                  <span className="text-soft">{t("there: {time}", { time: formatRun(at, timezone) })}</span>
                )}
              </li>
            ))}
          </ol>
        )}
      </div>
    </section>
  );
}
