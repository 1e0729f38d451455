// Shows replies on their platform while they are being written. One timer serves all of them, so that a quick reply costs only a map entry.
import { ChannelError, type ChannelId } from "../../../channels/port.ts";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import type { InboxEntry, Observer, ReplyPreview, SavePreview } from "../../runtime/index.ts";
import type { Adapters } from "../adapters.ts";
import type { OpenConnection, OpenConnections } from "../connections/open-connections.ts";
import { toPlatformMessageId } from "./stored-message-id.ts";

/** Milliseconds before a preview begins, so that a quick reply does not flash. */
const SHOW_AFTER_MS = 500;
const TICK_MS = 250;
/** Platforms show "typing" for about 5 s. */
const TYPING_INTERVAL_MS = 4_500;
/** A preview without new text or tool calls for so long is abandoned. */
const ABANDON_AFTER_MS = 120_000;
/** After each update a preview pauses one millisecond for so many characters: long replies are updated less often. */
const CHARACTERS_PER_REST_MS = 20;
const RETRY_DELAY_MS = 3_000;
const END_TIMEOUT_MS = 2_000;

interface GrowingReply {
  readonly entry: InboxEntry;
  readonly channel: ChannelId;
  readonly peer: string;
  readonly save: SavePreview;
  text: string;
  shown: string;
  messageId: string | undefined;
  openConnection: OpenConnection | undefined;
  /** The call in flight; there is one at a time, and the next one sends the latest text. */
  inFlight: { done: Promise<void>; abort: AbortController } | undefined;
  nextPreviewAt: number;
  nextTypingAt: number;
  lastActivityAt: number;
  isRefused: boolean;
}

interface Deps extends Pick<Kernel, "log"> {
  adapters: Adapters;
  openConnections: Pick<OpenConnections, "find">;
}

export interface ReplyPreviews {
  /** Shows the reply to this entry as it grows; `save` records the id of the message that shows it. */
  watch(channel: ChannelId, entry: InboxEntry, save: SavePreview): ReplyPreview;
}

export function createReplyPreviews({ adapters, openConnections, log }: Deps): ReplyPreviews {
  /** Keyed by conversation. A new turn overwrites the entry that a failed one left. */
  const growingReplies = new Map<string, GrowingReply>();
  let timer: Timer | undefined;

  const keyOf = ({ agentId, platform, peer }: InboxEntry) => `${agentId} ${platform} ${peer}`;

  function tick(): void {
    if (growingReplies.size === 0) {
      clearInterval(timer);
      timer = undefined;
    }
    const now = Date.now();
    for (const [key, reply] of growingReplies) {
      if (now - reply.lastActivityAt > ABANDON_AFTER_MS) growingReplies.delete(key);
      else if (!reply.inFlight && !reply.isRefused) startDueCall(reply, now);
    }
  }

  /** Starts the preview or typing call that is due, if one is. */
  function startDueCall(reply: GrowingReply, now: number): void {
    const hasNewText = reply.text !== reply.shown && reply.text.trim() !== "";
    if (now < (hasNewText ? reply.nextPreviewAt : reply.nextTypingAt) || (!hasNewText && reply.shown !== "")) return;
    if (!hasNewText) reply.nextTypingAt = now + TYPING_INTERVAL_MS;
    const abort = new AbortController();
    const done = call(reply, hasNewText ? preview : typing, abort.signal).finally(() => {
      reply.inFlight = undefined;
    });
    reply.inFlight = { done, abort };
  }

  /** Never rejects. */
  async function call(reply: GrowingReply, verb: typeof preview, signal: AbortSignal): Promise<void> {
    const { entry } = reply;
    try {
      reply.openConnection ??= await openConnections.find(entry.agentId, reply.channel);
      if (reply.openConnection && !signal.aborted) await verb(reply, reply.openConnection, signal);
    } catch (error) {
      if (!(error instanceof ChannelError)) log.error("a preview failed", { agentId: entry.agentId, error });
      else log.debug("a preview was not shown", { agentId: entry.agentId, reason: error.message });
      reply.isRefused = !(error instanceof ChannelError) || error.kind === "refused";
      const rest = (error instanceof ChannelError && error.retryAfter) || RETRY_DELAY_MS;
      reply.nextPreviewAt = reply.nextTypingAt = Date.now() + rest;
    }
  }

  const typing = ({ peer, entry }: GrowingReply, { adapter, binding }: OpenConnection, signal: AbortSignal) =>
    adapter.typing(binding, peer, signal, toPlatformMessageId(binding.bot, entry.platformMessageId));

  async function preview(
    reply: GrowingReply,
    { adapter, binding }: OpenConnection,
    signal: AbortSignal,
  ): Promise<void> {
    const { entry, peer, text, messageId } = reply;
    const replyTo = toPlatformMessageId(binding.bot, entry.platformMessageId);
    const shown = {
      draftId: draftIdOf(entry),
      peer,
      group: entry.isGroup,
      text,
      ...(messageId === undefined ? {} : { messageId }),
      ...(replyTo === undefined ? {} : { replyTo }),
    };
    const id = await adapter.preview?.(binding, shown, signal);
    reply.shown = text;
    reply.nextPreviewAt = Date.now() + text.length / CHARACTERS_PER_REST_MS;
    if (id === messageId) return;
    reply.messageId = id;
    // Recorded, so that after a kill the reply replaces this message instead of following it.
    if (id !== undefined) await reply.save(entry, id);
  }

  async function end(reply: GrowingReply): Promise<string | undefined> {
    if (growingReplies.get(keyOf(reply.entry)) === reply) growingReplies.delete(keyOf(reply.entry));
    if (reply.inFlight) {
      const { done, abort } = reply.inFlight;
      const late = setTimeout(() => abort.abort(), END_TIMEOUT_MS);
      await done;
      clearTimeout(late);
    }
    return reply.messageId;
  }

  return {
    watch(channel, entry, save) {
      const now = Date.now();
      const previous = growingReplies.get(keyOf(entry));
      const reply: GrowingReply = {
        entry,
        channel,
        peer: entry.peer ?? "",
        save,
        text: "",
        shown: "",
        // An earlier try of this turn may have sent a preview already.
        messageId: entry.previewId ?? (previous?.entry.id === entry.id ? previous.messageId : undefined),
        openConnection: undefined,
        inFlight: undefined,
        nextPreviewAt: now + SHOW_AFTER_MS,
        nextTypingAt: now + SHOW_AFTER_MS,
        lastActivityAt: now,
        isRefused: false,
      };
      growingReplies.set(keyOf(entry), reply);
      timer ??= setInterval(tick, TICK_MS).unref();
      const ending = { end: () => end(reply) };
      if (!adapters.get(channel).adapter.preview) return ending;
      const observer: Observer = {
        delta(text) {
          reply.text += text;
          reply.lastActivityAt = Date.now();
        },
        tool() {
          reply.lastActivityAt = Date.now();
        },
      };
      return { ...ending, observer };
    },
  };
}

/** Non-zero, within 31 bits, and the same for every try of one reply. */
const draftIdOf = ({ id }: InboxEntry) => (Bun.hash.crc32(id) >>> 1) | 1;
