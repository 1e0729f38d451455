// Replies on their way to Telegram: whole ones part by part, growing ones as a draft or as a message that is edited.
import type { Api } from "grammy";
import { type Binding, ChannelError, type OutgoingMessage, type Preview } from "../channel.ts";
import { createRecent } from "../shared/recent.ts";
import { type ApiSignal, type Apis, guarded } from "./api.ts";
import { isGone, isRefusal, isUnchanged, isUnreadable, isUnsupported, upgradedTo } from "./errors.ts";
import type { Pace } from "./pace.ts";
import { messageId, messageNumber, type Peer, parsePeer } from "./peer.ts";
import { type Part, render } from "./split.ts";

/** A link's preview is fetched by Telegram: a reply that was talked into carrying data in an address would send it. */
const QUIET = { link_preview_options: { is_disabled: true } };
const HTML = { parse_mode: "HTML" } as const;
const thread = (peer: Peer) => (peer.thread === undefined ? {} : { message_thread_id: peer.thread });

export interface Delivery {
  send(
    binding: Binding,
    message: OutgoingMessage,
    delivered: (part: string) => void,
    signal: AbortSignal,
  ): Promise<void>;
  preview(binding: Binding, preview: Preview, signal: AbortSignal): Promise<string | undefined>;
  forget(binding: Binding): void;
}

export function createDelivery({ apis, pace }: { apis: Apis; pace: Pace }): Delivery {
  /** Bots whose drafts Telegram did not take. */
  const withoutDrafts = createRecent<true>(1024);
  /** Groups that became supergroups. */
  const upgraded = createRecent<{ chat: number }>(1024);

  /** What is for a group that became a supergroup goes there: at first by Telegram's word, then by what was kept of it. */
  async function wherever<T>({ bot }: Binding, address: string, step: (peer: Peer) => Promise<T>): Promise<T> {
    const peer = parsePeer(address);
    if (!peer.group) return step(peer);
    const key = `${bot.id}:${peer.chat}`;
    try {
      return await step({ ...peer, ...upgraded.get(key) });
    } catch (error) {
      const chat = upgradedTo(error);
      if (chat === undefined) throw error;
      upgraded.set(key, { chat });
      return await step({ ...peer, chat });
    }
  }

  /** Makes one call about a chat; when Telegram asks to wait, the chat is left alone for that long. `counts`: as a message. */
  async function call<T>(
    binding: Binding,
    peer: Peer,
    signal: AbortSignal,
    use: (api: Api, signal: ApiSignal) => Promise<T>,
    counts = true,
  ): Promise<T> {
    try {
      const answer = await apis.call(binding, signal, use);
      if (counts) pace.written(binding.bot.id, peer.chat);
      return answer;
    } catch (error) {
      if (isRefusal(error) && error.error_code === 429)
        pace.hold(binding.bot.id, peer.chat, (error.parameters.retry_after ?? 1) * 1000);
      throw error;
    }
  }

  /** As HTML; as plain text when Telegram can't read that. */
  async function readable<T>(part: Part, use: (text: string, mode: typeof HTML | undefined) => Promise<T>): Promise<T> {
    try {
      return await use(part.html, HTML);
    } catch (error) {
      if (!isUnreadable(error)) throw error;
      return await use(part.text, undefined);
    }
  }

  function write(
    binding: Binding,
    peer: Peer,
    part: Part,
    replyTo: string | undefined,
    signal: AbortSignal,
  ): Promise<string> {
    const answered = peer.group ? messageNumber(replyTo, peer.chat) : undefined;
    const reply =
      answered === undefined ? {} : { reply_parameters: { message_id: answered, allow_sending_without_reply: true } };
    return readable(part, async (text, mode) => {
      const options = { ...QUIET, ...thread(peer), ...reply, ...mode };
      const sent = await call(binding, peer, signal, (api, signal) =>
        api.sendMessage(peer.chat, text, options, signal),
      );
      return messageId(peer.chat, sent.message_id);
    });
  }

  /** False when there is no message (any more) that could be edited. */
  async function edit(binding: Binding, peer: Peer, id: string, part: Part, signal: AbortSignal): Promise<boolean> {
    const number = messageNumber(id, peer.chat);
    if (number === undefined) return false;
    try {
      await readable(part, (text, mode) =>
        call(binding, peer, signal, (api, signal) =>
          api.editMessageText(peer.chat, number, text, { ...QUIET, ...mode }, signal),
        ),
      );
      return true;
    } catch (error) {
      if (isUnchanged(error)) return true;
      if (isGone(error)) return false;
      throw error;
    }
  }

  /** False when this bot can't show drafts; that is remembered. */
  async function draft(
    binding: Binding,
    peer: Peer,
    { draftId, text }: Preview,
    signal: AbortSignal,
  ): Promise<boolean> {
    // The end of it, where it grows. No text shows as "thinking".
    const part = render(text).at(-1) ?? { html: "", text: "" };
    try {
      await readable(part, (shown, mode) =>
        call(
          binding,
          peer,
          signal,
          (api, signal) => api.sendMessageDraft(peer.chat, draftId, shown, { ...thread(peer), ...mode }, signal),
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
    send: (binding, message, delivered, signal) =>
      guarded(binding.token, "peer", async () => {
        const before = message.deliveredParts.length;
        for (const [index, part] of render(message.text).entries()) {
          if (index < before) continue;
          const id = await wherever(binding, message.peer, async (peer) => {
            if (signal.aborted) throw new ChannelError("busy", "Stopped before it was sent.", "peer", 0);
            await pace.turn(binding.bot.id, peer.chat, signal);
            const preview = index === 0 ? message.previewMessageId : undefined;
            const edited = preview !== undefined && (await edit(binding, peer, preview, part, signal));
            const replyTo = index === 0 ? message.replyTo : undefined;
            return edited ? preview : await write(binding, peer, part, replyTo, signal);
          });
          delivered(id);
        }
      }),

    preview: (binding, preview, signal) =>
      guarded(binding.token, "peer", () =>
        wherever(binding, preview.peer, async (peer) => {
          const { bot } = binding;
          if (!peer.group && preview.messageId === undefined && !withoutDrafts.get(bot.id)) {
            if (!pace.draft(bot.id, peer.chat)) return undefined;
            if (await draft(binding, peer, preview, signal)) return undefined;
          }
          const part = render(preview.text)[0];
          if (!part || !pace.edit(bot.id, peer.chat)) return preview.messageId;
          if (preview.messageId === undefined) return await write(binding, peer, part, preview.replyTo, signal);
          return (await edit(binding, peer, preview.messageId, part, signal)) ? preview.messageId : undefined;
        }),
      ),

    forget: ({ bot }) => withoutDrafts.delete(bot.id),
  };
}
