// What the palette offers for agents: to talk to each, its pages, and starting and stopping it.

import { Bot, Play, RotateCw, Square } from "lucide-react";
import { api } from "../../api/api.ts";
import { type AgentOverview, isRunning, type Operation, type OverviewPage } from "../../data/agents.ts";
import { type Text, t, text } from "../../viewer/language.ts";
import { AGENT_ACTIONS } from "../agent/actions.ts";
import { AGENT_PAGES, addressOf } from "../agent/pages.ts";
import type { Command } from "./command.ts";
import { wordsOf } from "./ranking.ts";

export type NamedAgent = Pick<AgentOverview, "id" | "name" | "status">;
type Operate = (agent: NamedAgent, operation: Operation) => Promise<void>;

const OPERATIONS = {
  start: { label: text("Start"), Icon: Play },
  stop: { label: text("Stop"), Icon: Square },
  restart: { label: text("Restart"), Icon: RotateCw },
} as const;

const SHOWN = 8;
const LONGEST_QUERY = 100;

/** Words that name a page or an operation of an agent. */
const agentWords = (): string[] =>
  wordsOf(
    [
      ...AGENT_PAGES.map(({ label, keywords }) => `${t(label)} ${keywords ? t(keywords) : ""}`),
      ...AGENT_ACTIONS.map(({ label, keywords }) => `${t(label)} ${t(keywords)}`),
      ...Object.values(OPERATIONS).map(({ label }) => t(label)),
    ].join(" "),
  );

/**
 * The caller's agents with the words in their names that ask for no page or operation: "harbour" of "stop harbour". For
 * "log" alone those with it in their names, or else the first ones of the list, each of which has a log.
 */
export async function findAgents(words: readonly string[]): Promise<NamedAgent[]> {
  const known = agentWords();
  const names = words.filter((word) => !known.some((one) => one.startsWith(word)));
  const found = await agentsNamed(names.length > 0 ? names : words);
  return found.length > 0 || names.length > 0 ? found : agentsNamed([]);
}

async function agentsNamed(words: readonly string[]): Promise<NamedAgent[]> {
  const query = words.join(" ").slice(0, LONGEST_QUERY) || undefined;
  const { agents } = await api.get<OverviewPage>("/api/agents/overview", { query, limit: SHOWN });
  return agents;
}

/** The agent itself: leads to talking to it. */
export const agentCommand = ({ id, name }: NamedAgent): Command => ({
  id: `agent-${id}`,
  label: name,
  kind: t("Agent"),
  Icon: Bot,
  keywords: id,
  path: `/agents/${id}/chat`,
});

/** What can be done with the agent, with the agent's name. */
export const actionsOf = ({ id, name }: NamedAgent): Command[] =>
  AGENT_ACTIONS.map(({ path, label, keywords, Icon }) => ({
    id: `agent-${id}-${label}`,
    label: t("{name}: {action}", { name, action: t(label) }),
    kind: t("Action"),
    Icon,
    keywords: t(keywords),
    path: `/agents/${id}${path}`,
  }));

/** The agent's pages and operations, each with the agent's name. */
export function commandsOf(agent: NamedAgent, operate: Operate): Command[] {
  const { id, name, status } = agent;
  const title = (label: Text) => t("{name}: {action}", { name, action: t(label) });
  const operations: Operation[] = isRunning(status) ? ["stop", "restart"] : ["start"];
  return [
    ...AGENT_PAGES.map((page) => ({
      id: `agent-${id}${page.path}-page`,
      label: title(page.label),
      kind: t("Page"),
      Icon: page.Icon,
      ...(page.keywords && { keywords: t(page.keywords) }),
      path: addressOf(id, page),
    })),
    ...operations.map((operation) => ({
      id: `agent-${id}-${operation}`,
      label: title(OPERATIONS[operation].label),
      kind: t("Action"),
      Icon: OPERATIONS[operation].Icon,
      run: () => void operate(agent, operation),
    })),
  ];
}
