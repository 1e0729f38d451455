// The home of somebody signed in: all agents, what they cost, and which of them need somebody.

import { LayoutGrid, List, ListChecks, Plus } from "lucide-react";
import { useEffect, useState } from "react";
import { useLocation } from "wouter";
import { openNewAgent } from "../../app/new-agent.tsx";
import type { AgentOverview } from "../../data/agents.ts";
import { modelName, useModelChoices } from "../../data/models.ts";
import { Button } from "../../parts/button.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { SelectField } from "../../parts/forms/field.tsx";
import { SearchField } from "../../parts/forms/search-field.tsx";
import { IconButton } from "../../parts/icon-button.tsx";
import { lazyDialog } from "../../parts/lazy.tsx";
import { VirtualGrid } from "../../parts/lists/virtual-grid.tsx";
import { EmptyState } from "../../parts/page/empty-state.tsx";
import { Page } from "../../parts/page/page.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";
import { useMedia } from "../../parts/use-media.ts";
import { useParameter } from "../../viewer/address.ts";
import { t, tn } from "../../viewer/language.ts";
import { AgentCard, AgentRow, CARD_HEIGHT, ROW_COLUMNS, ROW_HEIGHT } from "./agent-item.tsx";
import { FirstAgent } from "./first-agent.tsx";
import { SelectionBar } from "./selection.tsx";
import { SetupNote } from "./setup-note.tsx";
import { Summary } from "./summary.tsx";
import { useAgents } from "./use-agents.ts";
import { useOrder, useView } from "./view.ts";

/** Somebody with more agents has found the way. */
const NEWCOMER_AGENTS = 3;

const AgentMenu = lazyDialog(() => import("./agent-menu.tsx"));

export default function AgentsPage() {
  const [location, navigate] = useLocation();
  const [query, setQuery] = useParameter("query");
  const [state, setState] = useParameter("state");
  const [sort, setSort] = useOrder();
  const [template, setTemplate] = useParameter("new");
  const filters = { query, state, sort };
  const { data, error, refetch, isStale, agentAt, show } = useAgents(filters);
  const { data: models } = useModelChoices();
  const [view, setView] = useView(data?.counts.total ?? 0);
  const isWide = useMedia("(min-width: 64rem)");
  const [menu, setMenu] = useState<{ agent: AgentOverview; anchor: HTMLElement }>();
  const [selected, setSelected] = useState<ReadonlySet<string>>();

  // A link such as /agents?new=assistant opens the dialog.
  useEffect(() => {
    if (!template) return;
    openNewAgent(template === "1" ? "" : template);
    setTemplate("");
  }, [template, setTemplate]);

  const select = (id: string, isSelected: boolean) =>
    setSelected((before) => {
      const next = new Set(before);
      if (isSelected) next.add(id);
      else next.delete(id);
      return next;
    });
  const clearFilters = () => navigate(location, { replace: true });
  const hasAgents = data && data.counts.total > 0;
  const rowHeight = isWide ? ROW_HEIGHT.wide : ROW_HEIGHT.narrow;
  const cardHeight = data && data.counts.attention > 0 ? CARD_HEIGHT.tall : CARD_HEIGHT.low;
  const Item = view === "grid" ? AgentCard : AgentRow;

  return (
    <Page
      title={t("Agents")}
      actions={
        hasAgents && (
          <Button look="primary" onClick={() => openNewAgent()}>
            <Plus aria-hidden="true" /> {t("New agent")}
          </Button>
        )
      }
    >
      {data && !hasAgents ? (
        <FirstAgent />
      ) : (
        <>
          <Summary
            counts={data?.counts}
            costTodayUsd={data?.costTodayUsd}
            hasFailed={error !== null}
            state={state}
            onChange={setState}
          />
          <div className="mb-3 flex flex-wrap items-center gap-2">
            <div className="min-w-48 flex-1">
              <SearchField label={t("Search by name")} value={query} onSearch={setQuery} />
            </div>
            <SelectField
              label={t("Order")}
              isLabelHidden
              value={sort || "newest"}
              onChange={(event) => setSort(event.target.value === "newest" ? "" : event.target.value)}
            >
              <option value="newest">{t("Newest first")}</option>
              <option value="name">{t("By name")}</option>
              <option value="activity">{t("Last used first")}</option>
              <option value="cost">{t("Dearest today first")}</option>
            </SelectField>
            <div className="flex">
              <IconButton
                label={view === "grid" ? t("Show as a list") : t("Show as cards")}
                onClick={() => setView(view === "grid" ? "list" : "grid")}
              >
                {view === "grid" ? <List /> : <LayoutGrid />}
              </IconButton>
              <IconButton
                label={selected ? t("End the selection") : t("Select several")}
                aria-pressed={selected !== undefined}
                onClick={() => setSelected(selected ? undefined : new Set())}
              >
                <ListChecks />
              </IconButton>
            </div>
          </div>
          {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
          {!data && !error && <Placeholders isGrid={view === "grid"} />}
          {data?.total === 0 && (
            <EmptyState
              title={t("No agent matches")}
              action={<Button onClick={clearFilters}>{t("Show all agents")}</Button>}
            >
              {state === "attention" && !query
                ? t("Nothing needs you now. Errors, calls that wait for your approval and broken channels appear here.")
                : t("Try fewer letters, or another state.")}
            </EmptyState>
          )}
          {data && data.total > 0 && (
            <div className={view === "list" ? "overflow-hidden rounded-large border border-edge bg-card" : "-mx-1.5"}>
              {view === "list" && isWide && <Heads />}
              <VirtualGrid
                label={t("Agents")}
                count={data.total}
                rowHeight={view === "grid" ? cardHeight : rowHeight}
                {...(view === "grid" && { minWidth: 280 })}
                isBusy={isStale}
                keyOf={(index) => agentAt(index)?.id ?? `at-${index}`}
                onVisible={show}
                renderItem={(index) => {
                  const agent = agentAt(index);
                  if (!agent)
                    return (
                      <div className="h-full p-2">
                        <Skeleton className="h-full" />
                      </div>
                    );
                  return (
                    <Item
                      agent={agent}
                      model={modelName(agent, models)}
                      isSelected={selected?.has(agent.id)}
                      onSelect={(isSelected) => select(agent.id, isSelected)}
                      isMenuOpen={menu?.agent.id === agent.id}
                      onMenu={(anchor) => setMenu({ agent, anchor })}
                    />
                  );
                }}
              />
            </div>
          )}
          {selected && data && (
            <SelectionBar
              filters={filters}
              total={data.total}
              selected={selected}
              onSelect={setSelected}
              onEnd={() => setSelected(undefined)}
            />
          )}
          <p role="status" className="sr-only">
            {data && tn("{n} agent shown", "{n} agents shown", data.total)}
          </p>
        </>
      )}
      {data && data.counts.total <= NEWCOMER_AGENTS && <SetupNote />}
      {menu && <AgentMenu {...menu} onClose={() => setMenu(undefined)} />}
    </Page>
  );
}

const Heads = () => (
  <div
    aria-hidden="true"
    className={`grid items-center gap-x-3 border-edge border-b px-3 py-1.5 font-medium text-soft text-sm ${ROW_COLUMNS}`}
  >
    <span>{t("Name")}</span>
    <span>{t("State")}</span>
    <span>{t("Channels")}</span>
    <span>{t("Model")}</span>
    <span>{t("Last used")}</span>
    <span className="text-right">{t("Today")}</span>
    <span />
  </div>
);

const Placeholders = ({ isGrid }: { isGrid: boolean }) => (
  <div role="status" className={isGrid ? "-mx-1.5 grid sm:grid-cols-2 lg:grid-cols-3" : "flex flex-col gap-2"}>
    <span className="sr-only">{t("Loading…")}</span>
    {Array.from({ length: isGrid ? 6 : 8 }, (_, index) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: placeholders have nothing else
      <div key={index} className={isGrid ? "p-1.5" : ""} style={{ height: isGrid ? CARD_HEIGHT.low : ROW_HEIGHT.wide }}>
        <Skeleton className="h-full" />
      </div>
    ))}
  </div>
);
