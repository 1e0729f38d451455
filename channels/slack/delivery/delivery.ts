// Sends replies and their previews as messages and files, part by part.
import type { ChatPostMessageArguments, ChatUpdateArguments } from "@slack/web-api";
import { type Binding, type ChannelAdapter, ChannelError, type Choice, type OutgoingFile } from "../../port.ts";
import { createRateLimiter } from "../../shared/rate-limiter.ts";
import { sendFile } from "../../shared/sent-files.ts";
import { asBot } from "../bot.ts";
import { isFileRefusal, isMessageGone, isThreadGone, SlackRefusal, withChannelErrors } from "../errors.ts";
import { isDirect, isTimestamp, messageId, type Peer, parsePeer, timestampOf } from "../ids.ts";
import type { SlackRateRules } from "../rate-rules.ts";
import type { WebApi } from "../web-api.ts";
import { blockFields } from "./blocks.ts";
import { type EarlierParts, fileId, findEarlierParts, metadataOf, partKey } from "./earlier-parts.ts";
import { shareFile, waysFor } from "./files.ts";
import { escapeMrkdwn, toMessageParts } from "./mrkdwn.ts";
import { createStatuses } from "./statuses.ts";

export type Delivery = Required<Pick<ChannelAdapter, "send" | "preview" | "typing" | "forget">>;

interface Deps {
  api: WebApi;
  /** Shows commands as people can write them. */
  showCommands(text: string): string;
  rules: SlackRateRules;
  onFailure(binding: Binding, reason: string): void;
}

interface TextPart {
  binding: Binding;
  place: Peer;
  /** In Slack's own marks. */
  text: string;
  /** The same for every try. */
  key: string;
  choices?: readonly Choice[] | undefined;
  signal: AbortSignal;
}

/** Slack would fetch each link to preview it: a manipulated reply could leak data in an address that way. */
const NO_PREVIEWS = { unfurl_links: false, unfurl_media: false } as const;
/** Edits of a bot that previews leave to replies. */
const RESERVED_EDITS = 5;

export function createDelivery({ api, showCommands, rules, onFailure }: Deps): Delivery {
  const rateLimiter = createRateLimiter();
  const statuses = createStatuses({ api, onFailure });

  /** In a channel, answers go to the thread of the message; in direct messages only if that is in a thread. */
  function placeOf(peer: string, replyTo: string | undefined): Peer {
    const { channel, thread } = parsePeer(peer);
    const answered = isDirect(channel) ? undefined : timestampOf(replyTo, channel);
    const hangsOn = thread ?? answered;
    return { channel, ...(hangsOn === undefined ? {} : { thread: hangsOn }) };
  }

  async function write({ binding, place, text, key, choices = [], signal }: TextPart): Promise<string> {
    const { channel, thread } = place;
    const post = async (threadTs: string | undefined) => {
      const body = {
        ...{ channel, text, ...NO_PREVIEWS, metadata: metadataOf(key), ...blockFields(text, choices) },
        ...(threadTs === undefined ? {} : { thread_ts: threadTs }),
      } satisfies ChatPostMessageArguments;
      const { ts } = await api.call(asBot(binding), "chat.postMessage", body, signal);
      if (isTimestamp(ts)) return messageId(channel, ts);
      throw new ChannelError("unreachable", "Slack's answer could not be understood.", "peer");
    };
    try {
      return await post(thread);
    } catch (error) {
      // The message that was answered is gone.
      if (thread === undefined || !isThreadGone(error)) throw error;
      return post(undefined);
    }
  }

  /** Edits a message; undefined if it does not exist or is not the bot's. */
  async function edit({ binding, place, text, key, choices = [], signal }: TextPart, id: string) {
    const ts = timestampOf(id, place.channel);
    if (ts === undefined) return undefined;
    const body = {
      ...{ channel: place.channel, ts, text, metadata: metadataOf(key), ...blockFields(text, choices) },
    } satisfies ChatUpdateArguments;
    try {
      await api.call(asBot(binding), "chat.update", body, signal);
      return id;
    } catch (error) {
      if (isMessageGone(error)) return undefined;
      throw error;
    }
  }

  async function sendFilePart(part: Omit<TextPart, "text">, file: OutgoingFile): Promise<string> {
    const { binding, place, signal } = part;
    const share = async (where: Peer, bytes: Uint8Array<ArrayBuffer>) =>
      fileId(where.channel, await shareFile(api, binding, where, file, bytes, signal));
    return sendFile({
      ...{ file, ways: waysFor(file), platform: "Slack", isRefused: isFileRefusal },
      async send(_, bytes) {
        try {
          return await share(place, bytes);
        } catch (error) {
          if (place.thread === undefined || !isThreadGone(error)) throw error;
          return share({ channel: place.channel }, bytes);
        }
      },
      sendText: (text) => write({ ...part, text: escapeMrkdwn(text) }),
    });
  }

  return {
    send: (binding, message, onPartDelivered, signal) =>
      withChannelErrors("peer", async () => {
        const { text, replyTo, attempts, deliveredParts, previewMessageId, choices } = message;
        const place = placeOf(message.peer, replyTo);
        const texts = toMessageParts(showCommands(text));
        const parts: readonly (string | OutgoingFile)[] = [...texts, ...(message.files ?? [])];
        const known = [...deliveredParts];
        /** What an earlier try may have sent; none from the first part on that it has not. */
        let earlier: EarlierParts | undefined;
        if (attempts > 0 && known.length < parts.length) {
          earlier = await findEarlierParts(api, binding, place, message, signal);
        }
        for (const [index, part] of parts.entries()) {
          if (index < deliveredParts.length) continue;
          if (signal.aborted) throw new ChannelError("busy", "Stopped before it was sent.", "peer", 0);
          const key = partKey(message, index);
          const sentBefore = typeof part === "string" ? earlier?.ofText(key) : earlier?.ofFile(part, known);
          if (sentBefore === undefined) earlier = undefined;
          const common = { binding, place, key, signal };
          const id = sentBefore ?? (await sendPart(common, part, index));
          known.push(id);
          onPartDelivered(id);
        }
        statuses.clear(binding, message.peer, place);

        async function sendPart(common: Omit<TextPart, "text">, part: string | OutgoingFile, index: number) {
          if (typeof part !== "string") return sendFilePart(common, part);
          const whole = { ...common, text: part, choices: index === texts.length - 1 ? choices : undefined };
          const edited =
            index === 0 && previewMessageId !== undefined ? await edit(whole, previewMessageId) : undefined;
          return edited ?? write(whole);
        }
      }),

    preview: (binding, preview, signal) =>
      withChannelErrors("peer", async () => {
        const { peer, messageId: shownId, replyTo, draftId } = preview;
        const text = toMessageParts(showCommands(preview.text))[0];
        const [here, all] = [`${binding.bot.id}:${peer}:edit`, `${binding.bot.id}:edits`];
        if (text === undefined || rateLimiter.waitTime(here, rules.edit) > 0) return shownId;
        if (rateLimiter.waitTime(all, rules.edits, Math.min(RESERVED_EDITS, rules.edits.burst - 1)) > 0) return shownId;
        rateLimiter.take(here, rules.edit);
        rateLimiter.take(all, rules.edits);
        const key = `preview:${replyTo ?? peer}:${draftId}`;
        const part: TextPart = { binding, place: placeOf(peer, replyTo), text, key, signal };
        return shownId === undefined ? write(part) : edit(part, shownId);
      }),

    typing: (binding, peer, signal, replyTo) =>
      withChannelErrors("peer", async () => {
        const key = `${binding.bot.id}:${peer}:${replyTo ?? ""}:typing`;
        if (rateLimiter.waitTime(key, rules.typing) > 0) return;
        const { channel, thread } = parsePeer(peer);
        const hangsOn = thread ?? timestampOf(replyTo, channel);
        // Slack shows a status only at a message.
        if (hangsOn === undefined) return;
        rateLimiter.take(key, rules.typing);
        await statuses.set(binding, peer, { channel, thread: hangsOn }, signal).catch((error: unknown) => {
          if (!(error instanceof SlackRefusal)) throw error;
          onFailure(binding, error.code);
        });
      }),

    forget({ bot }) {
      api.forget(bot.id);
      rateLimiter.forget((key) => key.startsWith(`${bot.id}:`));
    },
  };
}
