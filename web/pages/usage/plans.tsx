// The plans, what each includes, and which one the person has.

import { formatPrice, type Plan, usePlans } from "../../data/plans.ts";
import { ErrorNote } from "../../parts/error-note.tsx";
import { Section } from "../../parts/page/page.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";
import { Badge } from "../../parts/values/status.tsx";
import { planName } from "../../session/session.tsx";
import { formatBytes, formatUsd, t, tn } from "../../viewer/language.ts";

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
        {data?.plans.map(({ id, name, price, trialDays, agents, includedUsd, isCurrent, ...limits }) => (
          <li
            key={id}
            aria-current={isCurrent || undefined}
            className={`flex flex-col gap-1 rounded-large border p-3 ${isCurrent ? "border-sea bg-wash" : "border-edge"}`}
          >
            <h3 className="flex items-center justify-between gap-2 font-semibold">
              {name ?? planName(id)}
              {isCurrent && <Badge tone="busy">{t("yours")}</Badge>}
            </h3>
            {price && <p>{t("{price} a month", { price: formatPrice(price) })}</p>}
            {trialDays > 0 && (
              <p className="text-soft text-sm">{tn("{n} day for nothing", "{n} days for nothing", trialDays)}</p>
            )}
            <p>
              {agents === 0
                ? t("No agents of one's own")
                : agents === null
                  ? t("Any number of agents")
                  : tn("{n} agent", "{n} agents", agents)}
            </p>
            <p className="text-soft text-sm">
              {includedUsd === null
                ? t("Model use without a limit")
                : t("{usd} of model use a month", { usd: formatUsd(includedUsd) })}
            </p>
            <ul className="text-soft text-sm">
              {wordsOf(limits).map((words) => (
                <li key={words}>{words}</li>
              ))}
            </ul>
          </li>
        ))}
      </ul>
    </Section>
  );
}

type Limits = Pick<Plan, "schedules" | "fileBytes" | "skills" | "skillBytes" | "streams" | "channels">;

/** What the plan limits; what has no limit is left out. */
function wordsOf({ schedules, fileBytes, skills, skillBytes, streams, channels }: Limits): string[] {
  return [
    schedules !== null && tn("{n} schedule", "{n} schedules", schedules),
    channels !== null && tn("{n} connected bot", "{n} connected bots", channels),
    fileBytes !== null && t("{size} of files", { size: formatBytes(fileBytes) }),
    skills !== null &&
      skillBytes !== null &&
      tn("{n} skill, {size}", "{n} skills, {size}", skills, { size: formatBytes(skillBytes) }),
    streams !== null && tn("{n} live stream at a time", "{n} live streams at a time", streams),
  ].filter((words) => words !== false);
}
