// Puts together what a list of agents shows: rows, channels, costs, activity, and what needs the owner. The number of
// queries does not depend on the number of agents.
import type { Static } from "elysia";
import type { ServiceOf } from "../../src/kernel/plugin.ts";
import type { agents as agentsPlugin } from "../agents/index.ts";
import type { ai as aiPlugin } from "../ai/index.ts";
import type { approvals as approvalsPlugin } from "../approvals/index.ts";
import type { channels as channelsPlugin } from "../channels/index.ts";
import type { publicPage as publicPagePlugin } from "../public-page/index.ts";
import type { runtime as runtimePlugin } from "../runtime/index.ts";
import { type overviewResponse, type Sort, type State, toOverviewItem } from "./model.ts";

export interface OverviewRequest {
  query: string | undefined;
  state: State | undefined;
  sort: Sort;
  limit: number;
  offset: number;
}

interface Deps {
  agents: Pick<
    ServiceOf<typeof agentsPlugin>,
    "pageOf" | "countAgents" | "countMatching" | "configuredModels" | "views"
  >;
  ai: Pick<ServiceOf<typeof aiPlugin>, "agentCosts">;
  approvals: Pick<ServiceOf<typeof approvalsPlugin>, "countPending">;
  channels: Pick<ServiceOf<typeof channelsPlugin>, "listOfAgents" | "failedAgents">;
  publicPage: Pick<ServiceOf<typeof publicPagePlugin>, "enabledAmong">;
  sessions: Pick<ServiceOf<typeof runtimePlugin>["sessions"], "lastActivities">;
}

export function createOverview({ agents, ai, approvals, channels, publicPage, sessions }: Deps) {
  function orderBy(userId: string, sort: Sort) {
    if (sort === "cost") return ai.agentCosts.todayUsdByAgent(userId);
    if (sort === "activity") return sessions.lastActivities.ofUser(userId);
    return sort;
  }

  return async function overview(userId: string, request: OverviewRequest): Promise<Static<typeof overviewResponse>> {
    const { query, state, sort, limit, offset } = request;
    const failed = [...new Set(channels.failedAgents())];
    const [pending, order, costTodayUsd] = await Promise.all([
      approvals.countPending(userId),
      orderBy(userId, sort),
      ai.agentCosts.todayUsd(userId),
    ]);
    const needing = [...new Set([...failed, ...pending.keys()])];
    const [listed, { owned: failedChannels, ...counts }] = await Promise.all([
      agents.pageOf({ userId, query, state, needing, order, limit, offset }),
      agents.countAgents(userId, { needing, among: failed }),
    ]);
    // Without a text, those that match have been counted.
    const total = query ? await agents.countMatching({ userId, query, state, needing }) : counts[state ?? "total"];
    const ids = listed.map(({ id }) => id);
    const custom = listed.flatMap(({ id, model }) => (model === "custom" ? [id] : []));
    const [channelsByAgent, costs, lastActivities, publicIds, ownModels] = await Promise.all([
      channels.listOfAgents(listed),
      ai.agentCosts.todayUsdByAgent(userId, ids),
      sessions.lastActivities.ofAgents(ids),
      publicPage.enabledAmong(ids),
      agents.configuredModels(custom),
    ]);
    const items = listed.map((agent) =>
      toOverviewItem(agent, {
        ownModel: ownModels.get(agent.id),
        url: agents.views.publicUrl(agent.subdomain),
        publicPage: publicIds.has(agent.id),
        channels: channelsByAgent.get(agent.id) ?? [],
        pendingApprovals: pending.get(agent.id) ?? 0,
        costTodayUsd: costs.get(agent.id) ?? 0,
        lastActivityAt: lastActivities.get(agent.id),
      }),
    );
    const pendingApprovals = [...pending.values()].reduce((sum, count) => sum + count, 0);
    return {
      agents: items,
      count: items.length,
      total,
      counts: { ...counts, failedChannels, pendingApprovals },
      costTodayUsd,
    };
  };
}

export type Overview = ReturnType<typeof createOverview>;
