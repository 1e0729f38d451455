// What an account and its agents have used of models in the last 30 days.

import { useQuery } from "@tanstack/react-query";
import { api } from "../../../api/api.ts";
import { Chart } from "../../../parts/charts/chart.tsx";
import { Table } from "../../../parts/lists/table.tsx";
import { Loaded } from "../../../parts/page/loaded.tsx";
import { Section } from "../../../parts/page/page.tsx";
import { formatNumber, formatUsd, t, tn } from "../../../viewer/language.ts";
import type { Usage } from "../api-types.ts";
import { daysOf } from "../usage/days.ts";

const read = (userId: string, by: "day" | "agent") => ({
  queryKey: ["admin", "usage", userId, by],
  queryFn: () => api.get<Usage>("/api/admin/usage", { user: userId, by }),
});

export function AccountUsage({ userId }: { userId: string }) {
  const days = useQuery(read(userId, "day"));
  const agents = useQuery(read(userId, "agent"));
  return (
    <Section title={t("Use of models")} hint={t("The last 30 days")}>
      <Loaded query={days} height="h-48">
        {(usage) =>
          usage.rows.length === 0 ? (
            <p className="text-soft">{t("No model was called.")}</p>
          ) : (
            <>
              <p className="mb-2">
                <strong className="font-semibold text-lg">{formatUsd(usage.total.costUsd)}</strong>{" "}
                <span className="text-soft">{tn("in {n} call", "in {n} calls", usage.total.calls)}</span>
              </p>
              <Chart
                label={t("Cost by day")}
                height={140}
                kind="bars"
                isByDay
                {...daysOf(usage)}
                series={[{ label: t("Cost"), values: daysOf(usage).costs, format: formatUsd }]}
              />
            </>
          )
        }
      </Loaded>
      {agents.data && agents.data.rows.length > 0 && (
        <div className="mt-4">
          <Table
            label={t("Cost by agent")}
            rows={agents.data.rows.slice(0, 10)}
            keyOf={({ key }) => key}
            columns={[
              {
                key: "name",
                head: t("Agent"),
                cell: ({ key, name }) => name ?? (key === "" ? t("Calls with API keys") : t("A deleted agent")),
              },
              { key: "calls", head: t("Calls"), isNumber: true, cell: ({ calls }) => formatNumber(calls) },
              { key: "cost", head: t("Cost"), isNumber: true, cell: ({ costUsd }) => formatUsd(costUsd) },
            ]}
          />
        </div>
      )}
    </Section>
  );
}
