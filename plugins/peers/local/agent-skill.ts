// The skill by which an agent asks other agents on this host.
import { Type as t } from "@sinclair/typebox";
import type { ServiceOf } from "../../../src/kernel/plugin.ts";
import { oneLine } from "../../../src/kernel/util/text/quoted-text.ts";
import { MINUTE } from "../../../src/kernel/util/time.ts";
import type { Agent } from "../../agents/index.ts";
import type { publicPage as publicPagePlugin } from "../../public-page/index.ts";
import type { runtime as runtimePlugin } from "../../runtime/index.ts";
import { defineTool, type PromptContext, type Skill, TAINT, type Tool, type ToolContext } from "../../skills/index.ts";
import type { CallBudget } from "../call-budget.ts";
import { extendPath, pathOf, peerOf } from "../route.ts";
import type { AgentDirectory } from "./agent-directory.ts";

interface Deps {
  directory: AgentDirectory;
  messages: Pick<ServiceOf<typeof runtimePlugin>["agentMessages"], "ask">;
  visitors: ServiceOf<typeof publicPagePlugin>["visitors"];
  toVisitorError: ServiceOf<typeof publicPagePlugin>["toVisitorError"];
  budget: CallBudget;
}

/** The whole reply of the other agent, with what it asks others in turn. */
export const ASK_TIMEOUT_MS = 2 * MINUTE;

const text = t.String({
  minLength: 1,
  maxLength: 16_000,
  description: "The question or task. The other agent sees nothing but this.",
});

export function createAgentSkill(deps: Deps): Skill {
  const { directory, messages, visitors, toVisitorError, budget } = deps;

  function messageTo(context: ToolContext, self: Agent, to: Agent) {
    const path = extendPath(pathOf(context), directory.urlOf(self), directory.urlOf(to));
    return {
      peer: peerOf({ conversation: context.sessionId, path }),
      // The same when the turn is repeated after a crash, so that the other agent answers once.
      messageId: `call:${context.callKey}`,
      sender: { id: self.id, name: self.name },
    };
  }

  const ask = (context: ToolContext, to: Agent, message: Parameters<typeof messages.ask>[1]) =>
    budget.during(context, { agentId: to.id, peer: message.peer }, () => messages.ask(to, message, context.signal));

  const tools: Tool[] = [
    defineTool({
      name: "message_agent",
      class: "write",
      effect: "idempotent",
      // The other agent's turn has the taint of this one, and asks for approvals itself.
      passesTaintOn: true,
      untrusted: true,
      timeoutMs: ASK_TIMEOUT_MS,
      description:
        "Asks another agent of your owner and returns its reply. It remembers what you have asked before in this conversation.",
      input: t.Object({
        agent: t.String({ minLength: 1, maxLength: 100, description: "Its address or its exact name" }),
        message: text,
      }),
      async summarize({ agent, message }, context) {
        const { name } = await directory.requireColleague(context, await directory.requireSelf(context.agentId), agent);
        return `Ask your agent ${oneLine(name)}: ${message}`;
      },
      async execute({ agent, message }, context) {
        const self = await directory.requireSelf(context.agentId);
        const to = await directory.requireColleague(context, self, agent);
        const { byOwner, taint } = context;
        return ask(context, to, { ...messageTo(context, self, to), platform: "agent", byOwner, taint, text: message });
      },
    }),
    defineTool({
      name: "message_public_agent",
      class: "outside",
      effect: "idempotent",
      untrusted: true,
      timeoutMs: ASK_TIMEOUT_MS,
      description: "Asks an agent of somebody else on this host, at its public address, and returns its reply.",
      input: t.Object({
        address: t.String({ minLength: 1, maxLength: 300, description: "Its public address" }),
        message: text,
      }),
      async summarize({ address, message }, { agentId }) {
        await directory.requirePublic(await directory.requireSelf(agentId), address);
        return `Ask the agent of somebody else at ${address}: ${message}`;
      },
      async execute({ address, message }, context) {
        const self = await directory.requireSelf(context.agentId);
        const to = await directory.requirePublic(self, address);
        const asked = { ...messageTo(context, self, to), byOwner: false, taint: TAINT.outside, text: message };
        const visitor = `agent ${self.id}`;
        visitors.countMessage(visitor, to.id);
        const release = await visitors.acquire(visitor, to.id, context.signal);
        try {
          return await ask(context, to, { ...asked, platform: "public" });
        } catch (error) {
          context.signal.throwIfAborted();
          throw toVisitorError(error);
        } finally {
          release();
        }
      },
    }),
  ];

  return {
    id: "agents",
    name: "Other agents",
    description: "Asks your other agents, and agents of others on this host that talk to visitors.",
    category: "communication",
    version: "1.0.0",
    enabledByDefault: false,
    tools: () => tools,
    async instructions(context: PromptContext) {
      const colleagues = await directory.colleagues(context);
      if (colleagues.length === 0) return "";
      const lines = colleagues.map(({ name, subdomain }) => `- ${name.replace(/\s+/g, " ")} (${subdomain})`);
      return `Other agents of your owner, which you can ask with message_agent:\n${lines.join("\n")}`;
    },
  };
}
