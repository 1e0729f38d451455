// Signs up users with a plan and creates agents through the API, on the whole binary.

import { type Client, createClient, type Target } from "./client.ts";

export interface AgentItem {
  id: string;
  name: string;
  model: string;
  status: string;
  websocketUrl: string;
  createdAt: string;
}

/** Signs up a user, grants the plan with `berth user grant`, and signs in. */
export async function member(berth: Target, plan = "pro"): Promise<Client> {
  const client = createClient(berth);
  await client.signUp();
  await client.grant(plan);
  await client.signIn();
  return client;
}

/** Creates an agent; throws unless 201. */
export async function provision(client: Client, name = "Harbour", config: object = {}): Promise<AgentItem> {
  const { status, body, text } = await client.post<{ agent: AgentItem }>("/api/agents/provision", { name, config });
  if (status !== 201) throw new Error(`provision: ${status} ${text}`);
  return body.agent;
}
