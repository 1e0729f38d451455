// The agent of the address, for its pages.

import { useQuery } from "@tanstack/react-query";
import { createContext, useContext } from "react";
import { api, path } from "../../api/api.ts";
import { useLive } from "../../api/events.ts";

/** `GET /api/agents/:id`. */
export interface Agent {
  id: string;
  name: string;
  status: string;
  /** Why it is in an error. */
  statusReason: string | null;
  /** Set while an admin has paused it; `account`: with its owner's account. */
  frozen: { reason: string; account: boolean } | null;
  startedAt: string | null;
  /** model_a, model_b or custom. */
  model: string;
  subdomain: string;
  url: string;
  verified: boolean;
}

/** Everything else of an agent has a key that begins with `["agent", id]`. */
export const agentKey = (id: string) => ["agent", id, "detail"] as const;

export function useAgentQuery(id: string) {
  const key = agentKey(id);
  useLive(
    key,
    ["agent.status", "agent.updated", "agent.verified", "agent.deleted"],
    ({ data }) => data.agentId === id || data.id === id,
  );
  return useQuery({ queryKey: key, queryFn: () => api.get<{ agent: Agent }>(path`/api/agents/${id}`) });
}

export const AgentContext = createContext<Agent | undefined>(undefined);

/** The agent of this page. */
export function useAgent(): Agent {
  const agent = useContext(AgentContext);
  if (!agent) throw new Error("useAgent() is called outside of an agent's page.");
  return agent;
}
