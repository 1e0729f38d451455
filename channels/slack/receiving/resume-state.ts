// The resume point of a bot: the latest conversations, whose messages are fetched after an outage. Slack itself repeats an
// event that was not confirmed three times within about six minutes, and then never again.
// https://docs.slack.dev/apis/events-api#retries
import { isTimestamp, parsePeer } from "../ids.ts";

/** A conversation or thread, and the timestamp of its last message. */
export type RecentConversation = readonly [peer: string, last: string];

/** The latest conversations that are kept. */
const MAX_CONVERSATIONS = 32;

export interface RecentConversations {
  /**
   * Notes the last message of a conversation. One that is not `addressed` to the bot counts only if the conversation is
   * kept. Returns whether something changed.
   */
  record(peer: string, last: string, addressed: boolean): boolean;
  /** The least recent first. */
  all(): RecentConversation[];
}

export function createRecentConversations(known: readonly RecentConversation[]): RecentConversations {
  const lastOf = new Map(known);
  return {
    record(peer, last, addressed) {
      const before = lastOf.get(peer);
      if (before === undefined ? !addressed : Number(before) >= Number(last)) return false;
      lastOf.delete(peer);
      lastOf.set(peer, last);
      if (lastOf.size > MAX_CONVERSATIONS) lastOf.delete(lastOf.keys().next().value ?? "");
      return true;
    },
    all: () => [...lastOf],
  };
}

/** The conversations of a resume point; none for a text that is none. */
export function parseResumePoint(text: string | undefined): RecentConversation[] {
  try {
    const value: unknown = JSON.parse(text ?? "[]");
    return Array.isArray(value) ? value.filter(isRecentConversation) : [];
  } catch {
    return [];
  }
}

function isRecentConversation(value: unknown): value is RecentConversation {
  if (!Array.isArray(value) || typeof value[0] !== "string" || !isTimestamp(value[1])) return false;
  try {
    return parsePeer(value[0]).channel !== "";
  } catch {
    return false;
  }
}
