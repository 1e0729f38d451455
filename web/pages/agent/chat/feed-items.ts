// Makes the rows of a conversation's feed: days, messages, the reply that is being written, and what is not sent yet.

import { dayOf } from "../../../viewer/language.ts";
import type { MessageView } from "./chat-data.ts";
import type { LiveTurn } from "./live-turn.ts";
import type { Unsent } from "./sending.ts";

export type FeedItem =
  | { type: "day"; key: string; at: number }
  | { type: "message"; key: string; message: MessageView }
  | { type: "live"; key: string; turn: LiveTurn }
  | { type: "unsent"; key: string; message: Unsent };

/** A reply keeps its key from its first word on, so that its row stays when it is stored. */
export const keyOfMessage = ({ role, turnId, id }: Pick<MessageView, "role" | "turnId" | "id">): string =>
  role === "assistant" ? `reply ${turnId}` : `said ${id}`;

/**
 * Oldest first; a turn that runs stands behind its message, and waiting messages after it. `isWhole`: there are no older
 * messages; otherwise the first row is a message, so that the feed keeps its place when older ones come in above it.
 */
export function feedItems(
  messages: readonly MessageView[],
  isWhole: boolean,
  live: LiveTurn | undefined,
  unsent: readonly Unsent[],
): FeedItem[] {
  const items: FeedItem[] = [];
  let latest = 0;
  let day = "";
  const begin = (text: string) => {
    const at = Date.parse(text);
    // A message that waited is older than the reply above it.
    if (at <= latest || dayOf(at) === day) return;
    latest = at;
    day = dayOf(at);
    if (items.length === 0 && !isWhole) return;
    items.push({ type: "day", key: `day ${day}`, at });
  };
  const isAnswered =
    live !== undefined && messages.some(({ role, turnId }) => role === "assistant" && turnId === live.turnId);
  for (const message of messages) {
    begin(message.createdAt);
    items.push({ type: "message", key: keyOfMessage(message), message });
    if (live && !isAnswered && message.id === live.turnId && isShown(live)) {
      items.push({ type: "live", key: `reply ${live.turnId}`, turn: live });
    }
  }
  for (const message of unsent) {
    begin(message.createdAt);
    items.push({ type: "unsent", key: `unsent ${message.key}`, message });
  }
  return items;
}

const isShown = ({ status }: LiveTurn) => status !== "failed" && status !== "cancelled";

/** The turn to follow: the first one that is not over. */
export const openTurn = (messages: readonly MessageView[]): string | undefined =>
  messages.find(
    ({ role, state, seq }) => role === "user" && (state === "running" || (state === "waiting" && seq === null)),
  )?.turnId;
