// What an agent may cost in a day and a month, and what of it is spent.

import { Meter } from "../../../parts/charts/meter.tsx";
import { Section } from "../../../parts/page/page.tsx";
import { formatTime, formatUsd, t } from "../../../viewer/language.ts";
import { type BudgetStatus, useAgentUsage } from "../usage.ts";
import type { FieldProps } from "./field-props.ts";
import { membersOf, withMember } from "./members.ts";
import { NumberField } from "./style.tsx";

export function Budget({ id, config, setKey, noteAt }: FieldProps & { id: string }) {
  const { data: usage } = useAgentUsage(id, 1);
  const budget = membersOf(config.budget);
  const change = (key: string, value: number | undefined) => setKey("budget", withMember(budget, key, value));
  return (
    <Section
      title={t("Budget")}
      hint={t(
        "When it is spent, the agent says so and waits for the next day or month. Empty: only your plan limits it.",
      )}
    >
      <div className="grid gap-x-8 gap-y-4 sm:grid-cols-2">
        <div className="flex flex-col gap-2">
          <NumberField
            label={t("US dollars a day")}
            hint={t("For example 0.50")}
            min={0}
            step={0.01}
            value={budget.usdPerDay}
            error={noteAt("budget.usdPerDay")}
            onChange={(value) => change("usdPerDay", value)}
          />
          {usage && <Spent label={t("Spent today")} status={usage.budget.day} limit={budget.usdPerDay} />}
        </div>
        <div className="flex flex-col gap-2">
          <NumberField
            label={t("US dollars a month")}
            hint={t("Days and months are those of UTC.")}
            min={0}
            step={0.01}
            value={budget.usdPerMonth}
            error={noteAt("budget.usdPerMonth")}
            onChange={(value) => change("usdPerMonth", value)}
          />
          {usage && <Spent label={t("Spent this month")} status={usage.budget.month} limit={budget.usdPerMonth} />}
        </div>
      </div>
    </Section>
  );
}

function Spent({ label, status, limit }: { label: string; status: BudgetStatus; limit: unknown }) {
  const spent = formatUsd(status.spentUsd);
  if (typeof limit !== "number") {
    return (
      <p className="flex justify-between gap-3 text-sm">
        <span className="text-soft">{label}</span> <span>{spent}</span>
      </p>
    );
  }
  return (
    <Meter
      label={label}
      value={status.spentUsd}
      limit={limit}
      words={t("{spent} of {limit}", { spent, limit: formatUsd(limit) })}
      hint={t("Begins anew {when}", { when: formatTime(Date.parse(status.resetsAt)) })}
    />
  );
}
