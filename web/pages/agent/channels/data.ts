// The answers of the API that the pages of channels read, and the keys by which they are kept.

import { useQuery } from "@tanstack/react-query";
import { api, path } from "../../../api/api.ts";
import { useLive } from "../../../api/events.ts";
import { platformName } from "../../../parts/values/platform.tsx";

/** An item of `GET /api/channels`. */
export interface ChannelKind {
  channel: string;
  label: string;
  mode: string;
  hasGroups: boolean;
  link: "chat" | "invite";
  needsHttps: boolean;
  /** What the platform wants for an app before its bots can be connected. */
  appWebhook: { url: string; verifyToken: string } | null;
  /** What a bot is connected with; null: one token. */
  credentials: CredentialField[] | null;
  /** In Markdown. */
  guide: { token: string; ownerId: string; receiving: string; manifest?: string };
}

export interface CredentialField {
  name: string;
  label: string;
  isSecret: boolean;
  isOptional: boolean;
  example: string | null;
}

/** An item of `GET /api/agents/:id/channels`. */
export interface Connection {
  channel: string;
  label: string;
  bot: { id: string; username: string };
  link: string | null;
  ownerId: string | null;
  state: string;
  since: string;
  lastError: string | null;
  problem: string | null;
  nextTryAt: string | null;
}

/** `POST …/check`. */
export interface CheckedToken {
  bot: { id: string; username: string; name: string | null; link: string | null };
  inUseBy: { agentId: string | null; name: string | null } | null;
}

/** `GET …/access`. */
export interface Access {
  access: string;
  chosen: string | null;
  owner: string | null;
  owners: string[];
  allow: string[];
  groups: string;
  hasGroups: boolean;
}

export type AccessChange = Partial<{ [Key in "access" | "groups" | "owner"]: string | null }> & {
  owners?: string[];
  allow?: string[];
};

/** An item of `GET …/pairings`. */
export interface Person {
  senderId: string;
  name: string;
  status: "pending" | "approved" | "denied";
  code: string | null;
  createdAt: string;
  expiresAt: string | null;
  approvedAt: string | null;
}

export const channelPath = (agentId: string, channel: string, rest = "") =>
  path`/api/agents/${agentId}/channels/${channel}` + rest;

export const connectionsKey = (agentId: string) => ["agent", agentId, "channels"] as const;
export const accessKey = (agentId: string, channel: string) => [...connectionsKey(agentId), channel, "access"] as const;
export const peopleKey = (agentId: string, channel: string) => [...connectionsKey(agentId), channel, "people"] as const;

/** With the names of platforms in the reader's language. */
const named = <Item extends { channel: string; label: string }>({ channels }: { channels: Item[] }) => ({
  channels: channels.map((item) => ({ ...item, label: platformName(item.channel, item.label) })),
});

/** The channels there are, which change only with the version of Berth. */
export const useChannelKinds = () =>
  useQuery({
    queryKey: ["channel-kinds"],
    queryFn: () => api.get<{ channels: ChannelKind[] }>("/api/channels"),
    select: named<ChannelKind>,
    staleTime: Number.POSITIVE_INFINITY,
  });

/** The agent's bots with their states, live: an event also renews who may talk. */
export function useConnections(agentId: string) {
  const queryKey = connectionsKey(agentId);
  useLive(
    queryKey,
    ["channel.", "agent.status", "agent.updated"],
    ({ data }) => data.agentId === agentId || data.id === agentId,
  );
  return useQuery({
    queryKey,
    queryFn: () => api.get<{ channels: Connection[] }>(path`/api/agents/${agentId}/channels`),
    select: named<Connection>,
    // A bot that is being connected, or is tried again, changes without an event each time.
    refetchInterval: ({ state: { data } }) => refetchDelay(data?.channels ?? []),
  });
}

function refetchDelay(connections: readonly Connection[]): number | false {
  const delays = connections.flatMap(({ state, nextTryAt }) => {
    if (state === "connecting") return [2_000];
    return nextTryAt ? [Math.max(1_000, Date.parse(nextTryAt) - Date.now() + 1_000)] : [];
  });
  return delays.length > 0 && Math.min(...delays);
}

export const useAccess = (agentId: string, channel: string) =>
  useQuery({
    queryKey: accessKey(agentId, channel),
    queryFn: () => api.get<Access>(channelPath(agentId, channel, "/access")),
  });

export const usePeople = (agentId: string, channel: string) =>
  useQuery({
    queryKey: peopleKey(agentId, channel),
    queryFn: () => api.get<{ pairings: Person[]; total: number }>(channelPath(agentId, channel, "/pairings")),
  });
