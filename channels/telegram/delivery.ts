// Sends replies to Telegram part by part, and shows growing ones as a draft or as a message that is edited.
import type { Api } from "grammy";
import { createBoundedMap } from "../../src/kernel/util/bounded-map.ts";
import { MINUTE } from "../../src/kernel/util/time.ts";
import {
  type Binding,
  type ChannelAdapter,
  ChannelError,
  type Choice,
  type OutgoingFile,
  type Preview,
} from "../port.ts";
import { sendFile } from "../shared/sent-files.ts";
import { type ApiSignal, type BotApiClients, withChannelErrors } from "./bot-api.ts";
import {
  isFileRefusal,
  isMarkupError,
  isMessageGone,
  isRefusal,
  isUnchanged,
  isUnsupported,
  migratedChatId,
} from "./errors.ts";
import { methodsFor, toForm } from "./files.ts";
import { toHtml } from "./html.ts";
import { type MessagePart, toMessageParts } from "./message-parts.ts";
import { messageId, messageNumber, type Peer, parsePeer } from "./peer.ts";
import type { SendLimiter } from "./send-limiter.ts";

/** A file may take that long on a slow line. */
const UPLOAD_TIMEOUT_MS = 3 * MINUTE;
/** Telegram would fetch each link to preview it: a manipulated reply could leak data in an address that way. */
const NO_LINK_PREVIEW = { link_preview_options: { is_disabled: true } };
const HTML_MODE = { parse_mode: "HTML" } as const;
const buttons = (choices: readonly Choice[]) =>
  choices.length === 0
    ? {}
    : { reply_markup: { inline_keyboard: [choices.map(({ label, text }) => ({ text: label, callback_data: text }))] } };
const replyOption = (peer: Peer, replyTo: string | undefined) => {
  const answered = peer.group ? messageNumber(replyTo, peer.chat) : undefined;
  return answered === undefined
    ? {}
    : { reply_parameters: { message_id: answered, allow_sending_without_reply: true } };
};
const threadOption = (peer: Peer) => (peer.thread === undefined ? {} : { message_thread_id: peer.thread });

export type Delivery = Required<Pick<ChannelAdapter, "send" | "preview" | "forget">>;

export function createDelivery({
  clients,
  sendLimiter,
}: {
  clients: BotApiClients;
  sendLimiter: SendLimiter;
}): Delivery {
  /** Bots whose drafts Telegram refused. */
  const withoutDrafts = createBoundedMap<true>(1024);
  /** Groups that became supergroups, with their new ids. */
  const migratedChats = createBoundedMap<{ chat: number }>(1024);

  /** Runs a step for a chat. If the group became a supergroup, repeats it with the new id and remembers that. */
  async function withMigratedChat<T>({ bot }: Binding, address: string, step: (peer: Peer) => Promise<T>): Promise<T> {
    const peer = parsePeer(address);
    if (!peer.group) return step(peer);
    const key = `${bot.id}:${peer.chat}`;
    try {
      return await step({ ...peer, ...migratedChats.get(key) });
    } catch (error) {
      const chat = migratedChatId(error);
      if (chat === undefined) throw error;
      migratedChats.set(key, { chat });
      return await step({ ...peer, chat });
    }
  }

  /**
   * Makes one call about a chat. If Telegram asks to wait, blocks the chat that long. `countsAsMessage`: for the
   * limits.
   */
  const call = <T>(
    binding: Binding,
    peer: Peer,
    signal: AbortSignal,
    use: (api: Api, signal: ApiSignal) => Promise<T>,
    countsAsMessage = true,
  ): Promise<T> => withinLimits(binding, peer, () => clients.call(binding, signal, use), countsAsMessage);

  async function withinLimits<T>(
    binding: Binding,
    peer: Peer,
    run: () => Promise<T>,
    countsAsMessage = true,
  ): Promise<T> {
    try {
      const answer = await run();
      if (countsAsMessage) sendLimiter.recordSent(binding.bot.id, peer.chat);
      return answer;
    } catch (error) {
      if (isRefusal(error) && error.error_code === 429)
        sendLimiter.block(binding.bot.id, peer.chat, (error.parameters.retry_after ?? 1) * 1000);
      throw error;
    }
  }

  /** Sends HTML, or plain text if Telegram can't parse the HTML. */
  async function withPlainTextFallback<T>(
    part: MessagePart,
    use: (text: string, mode: typeof HTML_MODE | undefined) => Promise<T>,
  ): Promise<T> {
    try {
      return await use(part.html, HTML_MODE);
    } catch (error) {
      if (!isMarkupError(error)) throw error;
      return await use(part.text, undefined);
    }
  }

  function write(
    binding: Binding,
    peer: Peer,
    part: MessagePart,
    replyTo: string | undefined,
    signal: AbortSignal,
    choices: readonly Choice[] = [],
  ): Promise<string> {
    const place = { ...threadOption(peer), ...replyOption(peer, replyTo) };
    return withPlainTextFallback(part, async (text, mode) => {
      const options = { ...NO_LINK_PREVIEW, ...place, ...mode, ...buttons(choices) };
      const sent = await call(binding, peer, signal, (api, signal) =>
        api.sendMessage(peer.chat, text, options, signal),
      );
      return messageId(peer.chat, sent.message_id);
    });
  }

  /** Sends a file, or a text in place of one that Telegram does not take. */
  function writeFile(
    binding: Binding,
    peer: Peer,
    file: OutgoingFile,
    replyTo: string | undefined,
    signal: AbortSignal,
  ): Promise<string> {
    const fields = { chat_id: peer.chat, ...threadOption(peer), ...replyOption(peer, replyTo) };
    return sendFile({
      file,
      ways: methodsFor(file),
      platform: "Telegram",
      async send([method, parameter], bytes) {
        const form = toForm(file, bytes, parameter, fields);
        const limit = AbortSignal.any([signal, AbortSignal.timeout(UPLOAD_TIMEOUT_MS)]);
        const sent = await withinLimits(binding, peer, () =>
          clients.callRaw<{ message_id: number }>(binding, method, form, limit),
        );
        return messageId(peer.chat, sent.message_id);
      },
      isRefused: isFileRefusal,
      sendText: (text) => write(binding, peer, { html: toHtml({ text, spans: [] }), text }, replyTo, signal),
    });
  }

  /** Edits a message; false if it does not exist or can't be edited. */
  async function edit(
    binding: Binding,
    peer: Peer,
    id: string,
    part: MessagePart,
    signal: AbortSignal,
  ): Promise<boolean> {
    const number = messageNumber(id, peer.chat);
    if (number === undefined) return false;
    try {
      await withPlainTextFallback(part, (text, mode) =>
        call(binding, peer, signal, (api, signal) =>
          api.editMessageText(peer.chat, number, text, { ...NO_LINK_PREVIEW, ...mode }, signal),
        ),
      );
      return true;
    } catch (error) {
      if (isUnchanged(error)) return true;
      if (isMessageGone(error)) return false;
      throw error;
    }
  }

  /** Shows a draft; false if the bot can't, which is remembered. */
  async function draft(
    binding: Binding,
    peer: Peer,
    { draftId, text }: Preview,
    signal: AbortSignal,
  ): Promise<boolean> {
    // Shows the last part, which is the one that grows. An empty draft shows as "thinking".
    const part = toMessageParts(text).at(-1) ?? { html: "", text: "" };
    try {
      await withPlainTextFallback(part, (shown, mode) =>
        call(
          binding,
          peer,
          signal,
          (api, signal) => api.sendMessageDraft(peer.chat, draftId, shown, { ...threadOption(peer), ...mode }, signal),
          false,
        ),
      );
      return true;
    } catch (error) {
      if (!isUnsupported(error)) throw error;
      withoutDrafts.set(binding.bot.id, true);
      return false;
    }
  }

  return {
    send: (binding, message, onPartDelivered, signal) =>
      withChannelErrors(binding.token, "peer", async () => {
        const alreadyDelivered = message.deliveredParts.length;
        const texts = toMessageParts(message.text);
        const parts: readonly (MessagePart | OutgoingFile)[] = [...texts, ...(message.files ?? [])];
        for (const [index, part] of parts.entries()) {
          if (index < alreadyDelivered) continue;
          const id = await withMigratedChat(binding, message.peer, async (peer) => {
            if (signal.aborted) throw new ChannelError("busy", "Stopped before it was sent.", "peer", 0);
            await sendLimiter.acquire(binding.bot.id, peer.chat, signal);
            const replyTo = index === 0 ? message.replyTo : undefined;
            if ("kind" in part) return await writeFile(binding, peer, part, replyTo, signal);
            const preview = index === 0 ? message.previewMessageId : undefined;
            const edited = preview !== undefined && (await edit(binding, peer, preview, part, signal));
            const choices = index === texts.length - 1 ? message.choices : undefined;
            return edited ? preview : await write(binding, peer, part, replyTo, signal, choices);
          });
          onPartDelivered(id);
        }
      }),

    preview: (binding, preview, signal) =>
      withChannelErrors(binding.token, "peer", () =>
        withMigratedChat(binding, preview.peer, async (peer) => {
          const { bot } = binding;
          if (!peer.group && preview.messageId === undefined && !withoutDrafts.get(bot.id)) {
            if (!sendLimiter.tryDraft(bot.id, peer.chat)) return undefined;
            if (await draft(binding, peer, preview, signal)) return undefined;
          }
          const part = toMessageParts(preview.text)[0];
          if (!part || !sendLimiter.tryEdit(bot.id, peer.chat)) return preview.messageId;
          if (preview.messageId === undefined) return await write(binding, peer, part, preview.replyTo, signal);
          return (await edit(binding, peer, preview.messageId, part, signal)) ? preview.messageId : undefined;
        }),
      ),

    forget: ({ bot }) => withoutDrafts.delete(bot.id),
  };
}
