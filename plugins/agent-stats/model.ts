// Defines the API's schemas of an agent's statistics, and formats the measured values for them.
import { type Static, t } from "elysia";
import { integer } from "../../src/kernel/http/body/response-types.ts";
import { type Agent, isUp } from "../agents/index.ts";
import { formatBytes, formatDuration, formatPercent } from "./format.ts";
import type { AgentStats } from "./stats-service.ts";

const textOrNotAvailable = (description: string) =>
  t.String({ description: `${description}; \`N/A\` before the first turn` });

const live = {
  cpu: t.String({ description: "Share of one processor over the last minute, such as `0.42%`" }),
  memory: t.String({ description: "Bytes held in caches / allowance of the plan, such as `1.5 KiB / 64 MiB`" }),
  memoryPercent: t.String({ description: "The share of the allowance as a percentage" }),
  network: t.String({
    description: "Bytes received / sent by model, channel and tool calls since the service's start",
  }),
  uptime: integer({ description: "Milliseconds; 0 while the agent is not up" }),
  uptimeFormatted: t.String({ description: "Such as `1d 2h 3m 4s`" }),
  status: t.String(),
  pids: t.String({ description: "Live connections plus running turns" }),
  messagesProcessed: textOrNotAvailable("Turns since the agent was created"),
  messagesPerHour: textOrNotAvailable("Turns in the last hour"),
  averageResponseTime: textOrNotAvailable("Milliseconds, mean of the last 100 replies"),
  successRate: textOrNotAvailable("Percentage of the last 1,000 turns that succeeded"),
  errorRate: textOrNotAvailable("Percentage of the last 1,000 turns that failed"),
};

export const backendStats = t.Object({ id: t.String(), plan: t.String(), runtimeVersion: t.String(), ...live });

export const liveStats = t.Object({ agentId: t.String(), ...live });

export const mockStats = t.Object({
  agentId: t.String(),
  messagesProcessed: t.Number(),
  messagesPerHour: t.Number(),
  averageResponseTime: t.Number(),
  uptime: t.Number(),
  successRate: t.String({ description: "A decimal number" }),
  errorRate: t.String({ description: "A decimal number" }),
  timestamp: t.String({ description: "ISO 8601" }),
});

export const statsResponse = t.Union([
  t.Object({ stats: liveStats, status: t.Literal("ok") }, { title: "AgentStats" }),
  t.Object(
    { stats: mockStats, status: t.Literal("mock", { description: "The backend can't be reached" }) },
    { title: "MissingAgentStats" },
  ),
]);

const MIB = 1024 * 1024;
/** The memory allowance by the owner's plan, in bytes; other plans get the default. See docs/operating.md. */
const MEMORY_ALLOWANCE: Readonly<Record<string, number>> = { pro: 256 * MIB, enterprise: 1024 * MIB };
const DEFAULT_MEMORY_ALLOWANCE = 64 * MIB;

export function toStats(agent: Agent, plan: string, stats: AgentStats): Static<typeof backendStats> {
  const { cpu, memory, sent, received, pids, turns } = stats;
  const allowance = MEMORY_ALLOWANCE[plan] ?? DEFAULT_MEMORY_ALLOWANCE;
  const uptime = isUp(agent.status) && agent.startedAt !== null ? Math.max(0, Date.now() - agent.startedAt) : 0;
  const { processed, lastHour, meanMs, successRate } = turns;
  const orNotAvailable = (value: number | undefined, digits = 0) =>
    processed === 0 || value === undefined ? "N/A" : value.toFixed(digits);
  return {
    id: agent.id,
    status: agent.status,
    plan,
    runtimeVersion: agent.runtimeVersion,
    cpu: formatPercent(cpu),
    memory: `${formatBytes(memory)} / ${formatBytes(allowance)}`,
    memoryPercent: formatPercent(memory / allowance),
    network: `${formatBytes(received)} / ${formatBytes(sent)}`,
    uptime,
    uptimeFormatted: formatDuration(uptime),
    pids: String(pids),
    messagesProcessed: orNotAvailable(processed),
    messagesPerHour: orNotAvailable(lastHour),
    averageResponseTime: orNotAvailable(meanMs),
    successRate: orNotAvailable(successRate && 100 * successRate, 2),
    errorRate: orNotAvailable(successRate === undefined ? undefined : 100 * (1 - successRate), 2),
  };
}

/** Zeros instead of statistics, while the backend can't be reached. */
export const mockStatsOf = (agentId: string): Static<typeof mockStats> => ({
  agentId,
  messagesProcessed: 0,
  messagesPerHour: 0,
  averageResponseTime: 0,
  uptime: 0,
  successRate: "0.00",
  errorRate: "0.00",
  timestamp: new Date().toISOString(),
});
