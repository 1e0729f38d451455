// The agents of all accounts: any number of them, searched and sorted on the server, with a way to stop and start each.

import { useInfiniteQuery } from "@tanstack/react-query";
import { X } from "lucide-react";
import { api } from "../../../api/api.ts";
import { useFleetLive } from "../../../api/fleet-events.ts";
import { Choice } from "../../../parts/forms/choice.tsx";
import { SelectField } from "../../../parts/forms/field.tsx";
import { SearchField } from "../../../parts/forms/search-field.tsx";
import { IconButton } from "../../../parts/icon-button.tsx";
import { VirtualList } from "../../../parts/lists/virtual-list.tsx";
import { EmptyState } from "../../../parts/page/empty-state.tsx";
import { Loaded } from "../../../parts/page/loaded.tsx";
import { Page } from "../../../parts/page/page.tsx";
import { useParameter } from "../../../viewer/address.ts";
import { formatNumber, t, text } from "../../../viewer/language.ts";
import type { AgentPage } from "../api-types.ts";
import { MissingCells } from "../missing-cells.tsx";
import { AgentRow } from "./agent-row.tsx";

const STATES = ["", "up", "error", "stopped"] as const;
const STATE_LABELS = { "": text("All"), up: text("Answering"), error: text("With an error"), stopped: text("Stopped") };
const SORTS = ["created", "name", "activity", "cost", "errors"] as const;
const SORT_LABELS = {
  created: text("Newest first"),
  name: text("By name"),
  activity: text("Last active"),
  cost: text("Cost today"),
  errors: text("Errors today"),
};

export default function AgentsPage() {
  const [sought, setSought] = useParameter("query");
  const [stateText, setState] = useParameter("status");
  const [sortText, setSort] = useParameter("sort");
  const [owner, setOwner] = useParameter("owner");
  const state = STATES.find((one) => one === stateText) ?? "";
  const sort = SORTS.find((one) => one === sortText) ?? "created";
  const query = useInfiniteQuery({
    queryKey: ["admin", "agents", sought, state, sort, owner],
    queryFn: ({ pageParam }) =>
      api.get<AgentPage>("/api/admin/agents", {
        query: sought || undefined,
        status: state || undefined,
        owner: owner || undefined,
        sort,
        limit: 100,
        cursor: pageParam || undefined,
      }),
    initialPageParam: "",
    getNextPageParam: ({ next }) => next ?? undefined,
    // Costs grow without an event.
    refetchInterval: ({ state: { data } }) => (data && data.pages.length > 1 ? false : 60_000),
  });
  useFleetLive(
    ["admin", "agents"],
    ["agent.created", "agent.status", "agent.updated", "agent.deleted", "channel.state"],
  );
  const total = query.data?.pages[0]?.total;
  return (
    <Page
      title={t("Agents of all accounts")}
      intro={
        typeof total === "number"
          ? t("{count} found. Their conversations stay with their owners.", { count: formatNumber(total) })
          : t("Their conversations stay with their owners.")
      }
    >
      <div className="mb-4 flex flex-wrap items-center gap-3">
        <div className="min-w-0 flex-[1_1_16rem]">
          <SearchField label={t("Name, owner’s email address, or id")} value={sought} onSearch={setSought} />
        </div>
        <Choice
          label={t("Which agents")}
          value={state}
          options={STATES.map((value) => ({ value, label: t(STATE_LABELS[value]) }))}
          onChange={setState}
        />
        <div className="w-40">
          <SelectField label={t("Order")} isLabelHidden value={sort} onChange={(event) => setSort(event.target.value)}>
            {SORTS.map((value) => (
              <option key={value} value={value}>
                {t(SORT_LABELS[value])}
              </option>
            ))}
          </SelectField>
        </div>
        {owner && (
          <span className="inline-flex items-center gap-1 rounded-full bg-wash py-0 pr-1 pl-3 text-sea text-sm">
            {t("Of one account")}
            <IconButton label={t("Show the agents of all accounts")} onClick={() => setOwner("")} className="text-sea">
              <X />
            </IconButton>
          </span>
        )}
      </div>
      <MissingCells cells={query.data?.pages[0]?.cells} />
      <Loaded query={query} height="h-96">
        {({ pages }) => {
          const agents = pages.flatMap((page) => page.agents);
          return agents.length === 0 ? (
            <Nothing sort={sort} />
          ) : (
            <div className="overflow-hidden rounded-large border border-edge bg-card">
              <VirtualList
                label={t("Agents")}
                items={agents}
                estimate={58}
                keyOf={({ id }) => id}
                renderItem={(agent) => <AgentRow agent={agent} />}
                onEnd={() => {
                  if (query.hasNextPage && !query.isFetchingNextPage) void query.fetchNextPage();
                }}
              />
            </div>
          );
        }}
      </Loaded>
    </Page>
  );
}

function Nothing({ sort }: { sort: (typeof SORTS)[number] }) {
  if (sort === "errors") return <EmptyState title={t("No errors today")}>{t("No agent has logged one.")}</EmptyState>;
  if (sort === "cost")
    return <EmptyState title={t("No cost today")}>{t("No agent has called a model yet.")}</EmptyState>;
  return (
    <EmptyState title={t("No agent is like this")}>
      {t("Try fewer letters, another order, or choose “All”. Agents appear here when people make them.")}
    </EmptyState>
  );
}
