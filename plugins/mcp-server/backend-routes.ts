// Backend routes by which the MCP server writes: as the owner does, but for the taint of words that are not the owner's.
import { Elysia } from "elysia";
import { documentErrors } from "../../src/kernel/http/openapi/route-documentation.ts";
import type { ServiceOf } from "../../src/kernel/plugin.ts";
import type { agents as agentsPlugin } from "../agents/index.ts";
import type { runtime as runtimePlugin } from "../runtime/index.ts";
import type { schedules as schedulesPlugin } from "../schedules/index.ts";
import { type skills as skillsPlugin, TAINT } from "../skills/index.ts";
import {
  assistantFact,
  assistantFactBody,
  assistantMessageBody,
  assistantSchedule,
  assistantScheduleBody,
  assistantTurn,
} from "./model.ts";

/** The action of the service tokens with which the web surface calls these routes. */
export const ASSISTANT_ACTION = "agent.assistant";

interface Deps {
  agents: Pick<ServiceOf<typeof agentsPlugin>, "guards">;
  runtime: Pick<ServiceOf<typeof runtimePlugin>, "sendMessage">;
  memories: Pick<ServiceOf<typeof skillsPlugin>["memories"], "remember">;
  schedules: Pick<ServiceOf<typeof schedulesPlugin>, "create">;
}

const tags = ["MCP server"];
/** An assistant may pass on what it has read anywhere. */
const taintOf = (trusted: boolean) => (trusted ? TAINT.none : TAINT.outside);

export function backendRoutes({ agents, runtime, memories, schedules }: Deps) {
  const writing = { action: ASSISTANT_ACTION, scope: "write", changes: true } as const;
  return new Elysia({ name: "mcp-server.backend" })
    .use(agents.guards)
    .post(
      "/api/agents/:id/assistant/messages",
      async ({ agent, body: { message, conversation, trusted }, status }) =>
        status(
          202,
          await runtime.sendMessage(agent, conversation, { message, taint: taintOf(trusted), isNoCommand: true }),
        ),
      {
        agentCall: { action: ASSISTANT_ACTION, scope: "chat" },
        body: assistantMessageBody,
        response: { 202: assistantTurn },
        detail: {
          tags,
          summary: "Send an agent a message from an assistant of its owner's",
          description: "The tool of the MCP server that asks an agent calls this. The turn goes on in the background.",
          operationId: "createAssistantMessage",
          ...documentErrors({
            400: "SESSION_ELSEWHERE",
            404: "CONVERSATION_NOT_FOUND",
            409: ["AGENT_STOPPED", "AGENT_FROZEN"],
            429: "TOO_MANY_WAITING",
            503: "STOPPING",
          }),
        },
      },
    )
    .post(
      "/api/agents/:id/assistant/facts",
      ({ agent, body: { text: content, trusted } }) =>
        memories.remember({ agentId: agent.id, content, source: "owner", taint: taintOf(trusted) }),
      {
        agentCall: writing,
        body: assistantFactBody,
        response: { 200: assistantFact },
        detail: {
          tags,
          summary: "Teach an agent a fact from an assistant of its owner's",
          description:
            "`known` is true if the agent knew it already. `trusted` says whether the app's words count as the owner's.",
          operationId: "createAssistantFact",
          ...documentErrors({ 400: ["EMPTY_FACT", "FACT_TOO_LONG"], 409: "MEMORY_FULL" }),
        },
      },
    )
    .post(
      "/api/agents/:id/assistant/schedules",
      async ({ agent, body: { trusted, ...request } }) => {
        const taint = taintOf(trusted);
        const { id, words, nextRunAt } = await schedules.create(agent, request, taint);
        return { id, words, nextRunAt };
      },
      {
        agentCall: writing,
        body: assistantScheduleBody,
        response: { 200: assistantSchedule },
        detail: {
          tags,
          summary: "Make a schedule from an assistant of its owner's",
          description: "`trusted` says whether the app's words count as the owner's.",
          operationId: "createAssistantSchedule",
          ...documentErrors({ 400: "INVALID_SCHEDULE", 429: "SCHEDULE_LIMIT_REACHED" }),
        },
      },
    );
}
