// Defines the messages of the inbox: as they arrive, and as entries that wait for their reply.
import type { ChannelId } from "../../../channels/port.ts";
import { channelIds } from "../../../channels/registry.ts";
import { highestTaint, TAINT, type Taint } from "../../skills/index.ts";
import type { inbox } from "../schema.ts";
import type { NewMessage } from "../sessions/sessions.ts";
import type { Attachment } from "./attachments.ts";

type Column =
  | "status"
  | "error"
  | "settledAt"
  | "reply"
  | "attempts"
  | "previewId"
  | "hasSteps"
  | "suspended"
  | "suspendedAt"
  | "content"
  | "attachments"
  | "transcribedBy";

/** A pending message, with the number of its tries so far, and what they have left. */
export type InboxEntry = Readonly<Omit<typeof inbox.$inferSelect, Column>> & {
  attempts: number;
  previewId: string | null;
  hasSteps: boolean;
  suspended: boolean | null;
  /** Words of recordings are added to it. */
  content: string;
  attachments: string | null;
};

/** The entrances of Berth itself; `public` is the agent's public address, `agent` another agent of the same owner. */
const ENTRANCES = ["web", "api", "public", "agent"] as const;
/** Where a message comes from: an entrance or a channel. */
export type Platform = (typeof ENTRANCES)[number] | ChannelId;

export const platformIds = (): Platform[] => [...ENTRANCES, ...channelIds()];

/** A message as it arrives from a platform. */
export interface InboundMessage {
  agentId: string;
  platform: Platform;
  /** Unique for this agent on this platform; left out where the platform has no ids. */
  platformMessageId?: string;
  /** The conversation: its address on the platform, or the id of a session. */
  to: { peer: string } | { sessionId: string };
  sender: { id: string; name: string };
  /** The sender's, as the platform names it. */
  language?: string | undefined;
  byOwner: boolean;
  group?: boolean;
  /** Left out: a command or a message, by its content. */
  kind?: InboxEntry["kind"];
  content: string;
  /** More taint than follows from its sender and its files, such as that of a forwarded text. */
  taint?: Taint;
  /** Files that came with it; `content` names each of them on a line in brackets. */
  attachments?: readonly Attachment[];
  /** The `platformMessageId` of the message that it replies to, where that one's files are not among `attachments`. */
  repliesTo?: string;
  topic?: string | undefined;
}

/** The lane of an entry: a conversation on a platform, over all its sessions, or a session given by its id. */
export const conversationKey = ({ platform, peer, sessionId }: InboxEntry) =>
  peer === null ? sessionId : `${platform} ${peer}`;

/** The message as its session keeps it, under the id of the inbox entry. */
export const toUserMessage = ({ id, content, taint, receivedAt }: InboxEntry): NewMessage => ({
  id,
  role: "user",
  content,
  taint,
  at: receivedAt,
});

/** Files but for voice messages may come from anywhere, and so may their names, which are in the text. */
export const taintOf = ({ taint = TAINT.none, byOwner, attachments = [] }: InboundMessage): Taint =>
  highestTaint([
    taint,
    byOwner ? TAINT.none : TAINT.people,
    attachments.every(({ voice }) => voice) ? TAINT.none : TAINT.outside,
  ]);
