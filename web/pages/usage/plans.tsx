// The plans, what each includes, and which one the person has.

import { formatBytes, formatUsd, t, tn } from "../../app/language.ts";
import { planName } from "../../app/session.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { Section } from "../../parts/page.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";
import { Badge } from "../../parts/status.tsx";
import { usePlans } from "./usage.ts";

export function Plans() {
  const { data, error, refetch } = usePlans();
  return (
    <Section
      title={t("What plans include")}
      hint={t("Whoever runs this Berth gives out plans. With keys of your own, model use costs nothing here.")}
    >
      {error && !data && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Skeleton className="h-28" />}
      <ul className="grid gap-3 sm:grid-cols-2 lg:grid-cols-4">
        {data?.plans.map(({ id, agents, includedUsd, isCurrent, ...limits }) => (
          <li
            key={id}
            aria-current={isCurrent || undefined}
            className={`flex flex-col gap-1 rounded-large border p-3 ${isCurrent ? "border-sea bg-wash" : "border-edge"}`}
          >
            <h3 className="flex items-center justify-between gap-2 font-semibold">
              {planName(id)}
              {isCurrent && <Badge tone="busy">{t("yours")}</Badge>}
            </h3>
            <p>{agents === 0 ? t("No agents of one's own") : tn("{n} agent", "{n} agents", agents)}</p>
            <p className="text-soft text-sm">
              {includedUsd === null
                ? t("Model use without a limit")
                : t("{usd} of model use a month", { usd: formatUsd(includedUsd) })}
            </p>
            <ul className="text-soft text-sm">
              <li>{tn("{n} schedule", "{n} schedules", limits.schedules)}</li>
              <li>{t("{size} of files", { size: formatBytes(limits.fileBytes) })}</li>
              <li>
                {tn("{n} skill, {size}", "{n} skills, {size}", limits.skills, { size: formatBytes(limits.skillBytes) })}
              </li>
              <li>{tn("{n} live stream at a time", "{n} live streams at a time", limits.streams)}</li>
            </ul>
          </li>
        ))}
      </ul>
    </Section>
  );
}
