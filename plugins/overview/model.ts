// The schemas of the overview of an account's agents, and the conversion of rows into its items.
import { type Static, t } from "elysia";
import { channelDefinition } from "../../channels/registry.ts";
import { integer } from "../../src/kernel/http/body/response-types.ts";
import type { ListedAgent } from "../agents/index.ts";
import type { ChannelState } from "../channels/index.ts";

export const SORTS = ["newest", "name", "cost", "activity"] as const;
export const STATES = ["up", "stopped", "error", "attention"] as const;
export type Sort = (typeof SORTS)[number];
export type State = (typeof STATES)[number];

const optionalText = (description: string) => t.Optional(t.String({ description }));

export const overviewQuery = t.Object({
  query: t.Optional(t.String({ maxLength: 100, description: "A part of the name in any case, or a whole id" })),
  state: optionalText(
    `${STATES.join(", ")}; attention: in an error, with a channel that failed, or with calls that wait for approval`,
  ),
  sort: optionalText(`${SORTS.join(", ")}; cost and activity: the highest and the latest first. Default newest`),
  limit: optionalText("1 to 200, default 100"),
  offset: optionalText("Default 0"),
});

const nullable = <Schema extends Parameters<typeof t.Union>[0][number]>(schema: Schema) => t.Union([schema, t.Null()]);
const time = (description = "ISO 8601") => t.String({ description });

export const overviewItem = t.Object(
  {
    id: t.String(),
    name: t.String(),
    status: t.String({ description: "running, active, stopped or error" }),
    statusReason: nullable(t.String({ description: "Why it is in an error" })),
    model: t.String({ description: "model_a, model_b or custom" }),
    ownModel: nullable(t.String({ description: "The model that its configuration names, if its choice is custom" })),
    url: t.String({ description: "Its public address" }),
    verified: t.Boolean(),
    publicPage: t.Boolean({ description: "Visitors may talk to it" }),
    channels: t.Array(
      t.Object({
        channel: t.String(),
        name: t.String({ description: "The platform's name" }),
        username: t.String({ description: "The bot's handle on the platform" }),
        state: t.String({ description: "connecting, connected, backing_off or failed" }),
        lastError: nullable(t.String()),
      }),
    ),
    pendingApprovals: integer({ description: "Tool calls that wait for your decision" }),
    costTodayUsd: t.Number({ description: "Since midnight UTC" }),
    lastActivityAt: nullable(time("When somebody last talked to it, ISO 8601")),
    startedAt: nullable(time()),
    createdAt: time(),
    updatedAt: time(),
  },
  { title: "AgentOverview" },
);
export type OverviewItem = Static<typeof overviewItem>;

export const overviewResponse = t.Object({
  agents: t.Array(overviewItem),
  count: integer({ description: "Agents in this page" }),
  total: integer({ description: "Agents that match" }),
  counts: t.Object(
    {
      total: integer(),
      up: integer(),
      stopped: integer(),
      error: integer(),
      attention: integer({ description: "Agents that need you, for any reason" }),
      failedChannels: integer({ description: "Agents with a channel that failed" }),
      pendingApprovals: integer({ description: "Tool calls that wait, of all agents" }),
    },
    { description: "Of all your agents, whatever the filter" },
  ),
  costTodayUsd: t.Number({ description: "Of all your agents since midnight UTC" }),
});

export interface AgentFacts {
  ownModel: string | undefined;
  url: string;
  publicPage: boolean;
  channels: readonly ChannelState[];
  pendingApprovals: number;
  costTodayUsd: number;
  lastActivityAt: number | undefined;
}

const iso = (at: number) => new Date(at).toISOString();

export function toOverviewItem(agent: ListedAgent, facts: AgentFacts): OverviewItem {
  const { id, name, status, statusReason, model, verified, startedAt, createdAt, updatedAt } = agent;
  const { ownModel, url, publicPage, channels, pendingApprovals, costTodayUsd, lastActivityAt } = facts;
  return {
    id,
    name,
    status,
    statusReason,
    model,
    ownModel: model === "custom" ? (ownModel ?? null) : null,
    url,
    verified,
    publicPage,
    channels: channels.map(({ channel, bot, state, lastError }) => ({
      channel,
      name: channelDefinition(channel).label,
      username: bot.username,
      state,
      lastError,
    })),
    pendingApprovals,
    costTodayUsd,
    lastActivityAt: lastActivityAt === undefined ? null : iso(lastActivityAt),
    startedAt: startedAt === null ? null : iso(startedAt),
    createdAt: iso(createdAt),
    updatedAt: iso(updatedAt),
  };
}
