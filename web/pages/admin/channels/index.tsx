// The channels of all agents: which are connected, which wait or failed, why, and when the next try is.

import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { api } from "../../../api/api.ts";
import { useFleetLive } from "../../../api/fleet-events.ts";
import { SearchField } from "../../../parts/forms/search-field.tsx";
import { MoreButton } from "../../../parts/lists/more-button.tsx";
import { type Column, Table } from "../../../parts/lists/table.tsx";
import { EmptyState } from "../../../parts/page/empty-state.tsx";
import { Loaded } from "../../../parts/page/loaded.tsx";
import { Page } from "../../../parts/page/page.tsx";
import { Status } from "../../../parts/values/status.tsx";
import { When } from "../../../parts/values/when.tsx";
import { useParameter } from "../../../viewer/address.ts";
import { formatNumber, said, t, text } from "../../../viewer/language.ts";
import type { ChannelPage, ChannelState, FleetChannel } from "../api-types.ts";
import { CHANNEL_STATES, platformName } from "../channel-texts.ts";
import { MissingCells } from "../missing-cells.tsx";

const STATES = ["failed", "backing_off", "connecting", "connected", "stopped"] as const satisfies ChannelState[];
const POLL_MS = 30_000;
const MODES: Readonly<Record<string, ReturnType<typeof text>>> = {
  polling: text("asks for messages"),
  gateway: text("open connection"),
  webhook: text("is called by the platform"),
};

export default function ChannelsPage() {
  const [stateText, setState] = useParameter("state");
  const state = STATES.find((one) => one === stateText);
  const [sought, setSought] = useParameter("query");
  const query = useInfiniteQuery({
    queryKey: ["admin", "channels", state, sought],
    queryFn: ({ pageParam }) =>
      api.get<ChannelPage>("/api/admin/channels", {
        state,
        query: sought || undefined,
        limit: 50,
        cursor: pageParam || undefined,
      }),
    initialPageParam: "",
    getNextPageParam: ({ next }) => next ?? undefined,
    // What is tried again changes without an event each time.
    refetchInterval: ({ state: { data } }) => (data && data.pages.length > 1 ? false : POLL_MS),
  });
  useFleetLive(["admin", "channels"], ["channel.state", "agent.status", "agent.deleted"]);
  const counts = query.data?.pages[0]?.counts;
  return (
    <Page
      title={t("Channels")}
      intro={t("The bots of all agents. Berth connects again by itself; only a failed one needs its owner.")}
    >
      <fieldset className="mb-4 grid grid-cols-2 gap-2 sm:grid-cols-3 lg:grid-cols-6">
        <legend className="sr-only">{t("Which channels")}</legend>
        <StateChoice
          label={t("All")}
          count={counts && Object.values(counts).reduce((sum, count) => sum + count, 0)}
          isChosen={state === undefined}
          onChoose={() => setState("")}
        />
        {STATES.map((one) => (
          <StateChoice
            key={one}
            label={<Status tone={CHANNEL_STATES[one].tone}>{t(CHANNEL_STATES[one].label)}</Status>}
            count={counts?.[one]}
            isChosen={state === one}
            onChoose={() => setState(one)}
          />
        ))}
      </fieldset>
      <div className="mb-4 max-w-md">
        <SearchField label={t("Agent, bot or owner")} value={sought} onSearch={setSought} />
      </div>
      <MissingCells cells={query.data?.pages[0]?.cells} />
      <Loaded query={query} height="h-80">
        {({ pages }) => {
          const channels = pages.flatMap((page) => page.channels);
          return channels.length === 0 ? (
            <Nothing state={state} isSearch={sought !== ""} />
          ) : (
            <div className="rounded-large border border-edge bg-card px-4 py-2">
              <Table
                isStacked
                label={t("Channels")}
                columns={columns()}
                rows={channels}
                keyOf={({ agent, channel }) => `${agent.id} ${channel}`}
              />
            </div>
          );
        }}
      </Loaded>
      <MoreButton query={query} />
    </Page>
  );
}

interface StateChoiceProps {
  label: React.ReactNode;
  count: number | undefined;
  isChosen: boolean;
  onChoose: () => void;
}

const StateChoice = ({ label, count, isChosen, onChoose }: StateChoiceProps) => (
  <label
    className={`flex flex-col rounded-large border px-3 py-2 has-focus-visible:outline-2 has-focus-visible:outline-sea ${isChosen ? "border-sea bg-wash" : "border-edge bg-card hover:border-line"}`}
  >
    <input type="radio" name="channel-state" checked={isChosen} onChange={onChoose} className="sr-only" />
    <span className="font-semibold text-lg">{count === undefined ? "–" : formatNumber(count)}</span>
    <span className="text-sm">{label}</span>
  </label>
);

function Nothing({ state, isSearch }: { state: ChannelState | undefined; isSearch: boolean }) {
  if (isSearch) return <EmptyState title={t("No channel is called so")}>{t("Try fewer letters.")}</EmptyState>;
  if (state === "failed") return <EmptyState title={t("No channel has failed")} />;
  if (state === "backing_off")
    return <EmptyState title={t("No channel waits")}>{t("All that can be are connected.")}</EmptyState>;
  return (
    <EmptyState title={t("No channel here")}>
      {t("Channels appear when people connect their agents to Telegram, Discord or WhatsApp.")}
    </EmptyState>
  );
}

const columns = (): Column<FleetChannel>[] => [
  {
    key: "agent",
    head: t("Agent"),
    cell: ({ agent, owner }) => (
      <div className="min-w-40">
        <Link href={`/admin/agents?query=${agent.id}`} className="font-medium text-sea hover:underline">
          {agent.name}
        </Link>
        <Link href={`/admin/users/${owner.id}`} className="block text-soft text-sm hover:underline">
          {owner.email}
        </Link>
      </div>
    ),
  },
  {
    key: "bot",
    head: t("Bot"),
    cell: ({ channel, bot, mode }) => (
      <>
        {platformName(channel)} <span className="text-soft">@{bot.username}</span>
        <span className="block text-soft text-sm">
          {mode in MODES ? t(MODES[mode] ?? text("open connection")) : mode}
        </span>
      </>
    ),
  },
  {
    key: "state",
    head: t("State"),
    cell: ({ state, nextTryAt }) => (
      <>
        <Status tone={CHANNEL_STATES[state].tone}>{t(CHANNEL_STATES[state].label)}</Status>
        {nextTryAt && (
          <span className="block text-soft text-sm">
            {t("Next try")} <When at={nextTryAt} />
          </span>
        )}
      </>
    ),
  },
  {
    key: "error",
    head: t("Last error"),
    cell: ({ lastError }) => (
      <span className="block max-w-80 min-w-32">{lastError === null ? "–" : said(lastError)}</span>
    ),
  },
  { key: "since", head: t("Since"), cell: ({ since }) => <When at={since} /> },
];
