// The skill by which an agent asks agents of other hosts: those that its configuration names.
import { Type as t } from "@sinclair/typebox";
import type { Kernel, ServiceOf } from "../../../src/kernel/plugin.ts";
import { createBoundedMap } from "../../../src/kernel/util/bounded-map.ts";
import { type agents as agentsPlugin, fillCredentials, type RemoteAgentSettings } from "../../agents/index.ts";
import { defineTool, type Skill, type SkillSource, type ToolContext, toolDeclined } from "../../skills/index.ts";
import type { CallBudget } from "../call-budget.ts";
import type { AgentDirectory } from "../local/agent-directory.ts";
import { ASK_TIMEOUT_MS } from "../local/agent-skill.ts";
import { extendPath, pathOf } from "../route.ts";

interface Deps extends Pick<Kernel, "outbound"> {
  agents: Pick<ServiceOf<typeof agentsPlugin>, "settings" | "credentials">;
  directory: Pick<AgentDirectory, "requireSelf" | "urlOf">;
  budget: CallBudget;
}

type Remote = RemoteAgentSettings & { url: string };

/** Conversations with agents of other hosts that can go on; after a restart they begin anew. */
const MAX_CONVERSATIONS = 10_000;

export function createRemoteSkills({ outbound, agents, directory, budget }: Deps): SkillSource {
  const contexts = createBoundedMap<string>(MAX_CONVERSATIONS);

  async function remotesOf(agentId: string): Promise<[name: string, remote: Remote][]> {
    const { remoteAgents } = await agents.settings(agentId);
    return [...(remoteAgents ?? [])].filter(([, { enabled }]) => enabled !== false);
  }

  async function requireRemote(agentId: string, name: string): Promise<Remote> {
    const remotes = await remotesOf(agentId);
    const [, remote] = remotes.find(([known]) => known === name.trim()) ?? [];
    if (remote) return remote;
    throw toolDeclined(`There is no such agent. Known ones: ${remotes.map(([one]) => one).join(", ")}.`);
  }

  async function ask(context: ToolContext, name: string, text: string): Promise<string> {
    const remote = await requireRemote(context.agentId, name);
    const self = await directory.requireSelf(context.agentId);
    const path = extendPath(pathOf(context), directory.urlOf(self), remote.url.replace(/\/$/, ""));
    const { headers } = await fillCredentials(self.id, remote.headers ?? new Map(), agents.credentials, toolDeclined);
    const { askRemote } = await import("./remote-client.ts");
    const key = `${context.sessionId} ${remote.url}`;
    const question = { url: remote.url, headers, text, path, messageId: context.callKey, signal: context.signal };
    const reply = await budget.during(context, { agentId: remote.url, peer: "" }, () =>
      askRemote({ outbound }, { ...question, contextId: contexts.get(key) ?? "" }),
    );
    if (reply.contextId !== "") contexts.set(key, reply.contextId);
    return reply.text;
  }

  const tool = defineTool({
    name: "message_remote_agent",
    class: "outside",
    effect: "once",
    untrusted: true,
    // The headers may hold the owner's credentials.
    ownerOnly: true,
    timeoutMs: ASK_TIMEOUT_MS,
    description: "Asks an agent of another host, which your owner has named, and returns its reply.",
    input: t.Object({
      agent: t.String({ minLength: 1, maxLength: 100, description: "Its name" }),
      message: t.String({
        minLength: 1,
        maxLength: 16_000,
        description: "The question or task. The other agent sees nothing but this.",
      }),
    }),
    async summarize({ agent, message }, { agentId }) {
      await requireRemote(agentId, agent);
      return `Ask the agent ${agent} of another host: ${message}`;
    },
    execute: ({ agent, message }, context) => ask(context, agent, message),
  });
  const tools = [tool];
  const skill: Skill = {
    id: "remote-agents",
    name: "Agents of other hosts",
    description: "Asks the agents of other hosts that the configuration names, by the A2A protocol.",
    category: "communication",
    version: "1.0.0",
    enabledByDefault: true,
    tools: () => tools,
    async instructions({ agentId, byOwner }) {
      if (!byOwner) return "";
      const names = (await remotesOf(agentId)).map(([name]) => name);
      return `Agents of other hosts, which you can ask with message_remote_agent: ${names.join(", ")}.`;
    },
  };
  const [offered, none]: [Skill[], Skill[]] = [[skill], []];
  return {
    id: "remote-agents",
    skillsFor: async (agentId) => ((await remotesOf(agentId)).length > 0 ? offered : none),
  };
}
