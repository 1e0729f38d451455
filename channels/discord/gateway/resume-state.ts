// The resume point of a bot: its session, and the conversations to fetch if Discord has forgotten the session.

import { isSnowflake } from "../ids.ts";
import type { GatewaySession } from "./gateway-connection.ts";

/** The resume point, saved as JSON. */
export interface ResumeState extends GatewaySession {
  /** The id of the application that the slash commands belong to. */
  app: string;
  places: RecentConversation[];
}

/** A conversation: its channel, its last message, and its guild. */
export type RecentConversation = [channel: string, last: string, guild: string | null];

/** The latest conversations that are kept. */
const MAX_CONVERSATIONS = 32;

export function parseResumeState(text: string | undefined): ResumeState | undefined {
  if (text === undefined) return undefined;
  try {
    const { id, url, seq, app, places } = JSON.parse(text) as Partial<Record<keyof ResumeState, unknown>>;
    if (typeof id !== "string" || typeof url !== "string" || typeof app !== "string") return undefined;
    if (typeof seq !== "number" || seq < 1) return undefined;
    return { id, url, seq, app, places: Array.isArray(places) ? places.filter(isRecentConversation) : [] };
  } catch {
    return undefined;
  }
}

const isRecentConversation = (value: unknown): value is RecentConversation =>
  Array.isArray(value) &&
  isSnowflake(value[0]) &&
  isSnowflake(value[1]) &&
  (value[2] === null || isSnowflake(value[2]));

export interface RecentConversations {
  /**
   * Notes the last message of a conversation. One that is not `addressed` to the bot counts only if the conversation is
   * kept.
   */
  record(channel: string, message: string, guild: string | undefined, addressed: boolean): void;
  all(): RecentConversation[];
}

export function createRecentConversations(known: readonly RecentConversation[]): RecentConversations {
  /** By channel, the least recent first. */
  const places = new Map(known.map((place) => [place[0], place]));
  return {
    record(channel, message, guild, addressed) {
      if (!addressed && !places.has(channel)) return;
      places.delete(channel);
      places.set(channel, [channel, message, guild ?? null]);
      if (places.size > MAX_CONVERSATIONS) places.delete(places.keys().next().value ?? "");
    },
    all: () => [...places.values()],
  };
}
