// The link, or code, by which a person shows a bot that they are its owner.

import { useQuery } from "@tanstack/react-query";
import { api, path } from "../api/api.ts";
import { READ_ONCE } from "../api/events.ts";

/** `POST …/owner-link`. */
export interface OwnerLink {
  code: string;
  link: string | null;
  /** The link writes the code to the bot by itself. */
  sendsCode: boolean;
  expiresAt: string;
}

/** A little less than the code is valid, which is a quarter of an hour. */
const RENEW_MS = 13 * 60_000;

export const useOwnerLink = (agentId: string, channel: string, isWanted = true) =>
  useQuery({
    // Apart from the agent's channels: reading it again ends the code that somebody is just scanning.
    queryKey: ["owner-link", agentId, channel],
    meta: READ_ONCE,
    queryFn: () => api.post<OwnerLink>(path`/api/agents/${agentId}/channels/${channel}/owner-link`, {}),
    enabled: isWanted,
    // Each answer ends the code before it; it is a secret, so it is not kept.
    staleTime: RENEW_MS,
    refetchInterval: RENEW_MS,
    gcTime: 0,
  });
