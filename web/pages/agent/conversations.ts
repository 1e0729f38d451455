// The agent's conversations on channels: names for what is known or sent there.

import { useQuery } from "@tanstack/react-query";
import { api, path } from "../../api/api.ts";
import { platformName } from "../../parts/values/platform.tsx";

export interface Conversation {
  platform: string;
  peer: string;
  /** As the person who wrote last is called there. */
  name: string;
  group: boolean;
  /** The owner's own chat. */
  owner: boolean;
}

/** The newest ones, the owner's own first. */
export function useConversations(agentId: string) {
  return useQuery({
    queryKey: ["agent", agentId, "conversations-on-channels"],
    queryFn: async () => {
      const { targets } = await api.get<{ targets: Conversation[] }>(path`/api/agents/${agentId}/schedules/targets`);
      return targets.toSorted((one, other) => Number(other.owner) - Number(one.owner));
    },
    staleTime: 60_000,
  });
}

/** Names a conversation, given as `platform:peer`: by who wrote there last, else by its id. */
export function useConversationNames(agentId: string): (conversation: string) => string {
  const { data } = useConversations(agentId);
  return (conversation) => {
    const colon = conversation.indexOf(":");
    const [platform, peer] = [conversation.slice(0, colon), conversation.slice(colon + 1)];
    const known = data?.find((one) => one.platform === platform && one.peer === peer);
    return `${known?.name ?? peer} · ${platformName(platform)}`;
  };
}

/** What names a conversation in a list: an item of `GET /api/agents/:id/conversations`, in part. */
export interface Titled {
  platform: string;
  name: string;
  topic: string | null;
  title: string;
}

/** Who it is with, or what it is about. */
export const titleOf = ({ platform, name, topic, title }: Titled): string =>
  (platform === "web" || topic !== null ? title : name || title) || platformName(platform);

/** Signs of Markdown and line breaks say nothing in one line. */
export const oneLine = (text: string): string => text.replace(/[*_`#>|]+/g, "").replace(/\s+/g, " ");
