// Telegram (channel_a): implements the port over the Bot API. An idle bot keeps nothing in memory.

import type { CallbackQuery } from "grammy/types";
import { createBoundedMap } from "../../src/kernel/util/bounded-map.ts";
import type { ChannelLog } from "../definition.ts";
import type { Binding, ChannelAdapter, ConnectionListener, RecordTraffic, WebhookReceiver } from "../port.ts";
import { apiSignal, createBotApiClients, withChannelErrors } from "./bot-api.ts";
import { createDelivery } from "./delivery.ts";
import { toChannelError } from "./errors.ts";
import { downloadFile } from "./file-download.ts";
import { poll } from "./long-polling.ts";
import { parsePeer } from "./peer.ts";
import { createSendLimiter, type TelegramRateRules } from "./send-limiter.ts";
import { ALLOWED_UPDATES } from "./updates.ts";
import { receiveUpdate } from "./webhook.ts";

const MENU_TIMEOUT_MS = 20_000;

export interface TelegramOptions {
  /** The Bot API server without a path, such as `https://api.telegram.org`. */
  apiRoot: string;
  /** The bots' command menu: name to description. */
  commands: Readonly<Record<string, string>>;
  log: ChannelLog;
  traffic?: RecordTraffic;
  /** Send limits. Default: Telegram's own. */
  rules?: TelegramRateRules;
}

/** Telegram can be polled, can post to a webhook, and shows previews. */
export type TelegramChannel = ChannelAdapter & {
  listener: ConnectionListener;
  webhook: WebhookReceiver;
  preview: NonNullable<ChannelAdapter["preview"]>;
};

/**
 * Creates the Telegram adapter: long polling or webhook, previews by drafts or edits, Markdown converted to HTML.
 *
 * @example
 * const telegram = createTelegram({ apiRoot: "https://api.telegram.org", commands: { help: "what I understand" }, log });
 * const bot = await telegram.identify(token, AbortSignal.timeout(10_000));
 */
export function createTelegram({ apiRoot, commands, log, traffic, rules }: TelegramOptions): TelegramChannel {
  const menu = Object.entries(commands).map(([command, description]) => ({ command, description }));
  const clients = createBotApiClients(apiRoot, traffic);
  const sendLimiter = createSendLimiter(rules);
  const delivery = createDelivery({ clients, sendLimiter });
  /** Bots whose command menu this process has set. */
  const botsWithMenu = createBoundedMap<true>(1024);

  /** Sets the command menu, once for each bot. The bot works without it, so a failure is only logged. */
  async function publishCommandMenu(binding: Binding, signal: AbortSignal): Promise<void> {
    const { agentId, token, bot } = binding;
    if (botsWithMenu.get(bot.id)) return;
    botsWithMenu.set(bot.id, true);
    try {
      // No cached client: most bots make no other call for a while.
      const limit = AbortSignal.any([signal, AbortSignal.timeout(MENU_TIMEOUT_MS)]);
      await clients.callRaw(binding, "setMyCommands", { commands: menu }, limit);
    } catch (error) {
      botsWithMenu.delete(bot.id);
      log.debug("telegram: the commands menu was not set", {
        agentId,
        reason: toChannelError(error, "bot", token).message,
      });
    }
  }

  /**
   * Ends the button's waiting state, and removes the buttons of its message if it was answered. Both are for the eye, so
   * failures are only logged.
   */
  function finishButton(binding: Binding, { id, message }: CallbackQuery, isAnswer: boolean): void {
    const signal = AbortSignal.timeout(MENU_TIMEOUT_MS);
    const note = isAnswer ? {} : { text: "Only the owner of this bot can answer that." };
    const calls: [string, object][] = [["answerCallbackQuery", { callback_query_id: id, ...note }]];
    if (message && isAnswer) {
      calls.push(["editMessageReplyMarkup", { chat_id: message.chat.id, message_id: message.message_id }]);
    }
    for (const [method, params] of calls) {
      clients.callRaw(binding, method, params, signal).catch((error: unknown) => {
        const reason = toChannelError(error, "peer", binding.token).message;
        log.debug("telegram: a button was not finished", { agentId: binding.agentId, reason });
      });
    }
  }

  return {
    identify: (token, signal) =>
      withChannelErrors(token, "bot", async () => {
        const api = await clients.createClient({ token });
        const me = await api.getMe(apiSignal(signal));
        return { id: String(me.id), username: me.username, name: me.first_name };
      }),

    listener: {
      listen: (binding, sink, signal) =>
        withChannelErrors(binding.token, "bot", async () => {
          const { agentId } = binding;
          await poll(clients, binding, sink, signal, {
            onConnected: () => publishCommandMenu(binding, signal),
            onButtonPressed: (pressed, isAnswer) => finishButton(binding, pressed, isAnswer),
            onUnreadableUpdate: (error) => log.warn("telegram: an update could not be read", { agentId, error }),
          });
        }),
    },

    webhook: {
      register: (binding, target, signal) =>
        withChannelErrors(binding.token, "bot", async () => {
          const options = { secret_token: target.secret, allowed_updates: ALLOWED_UPDATES };
          await clients.call(binding, signal, (api, signal) => api.setWebhook(target.url, options, signal));
          await publishCommandMenu(binding, signal);
        }),

      unregister: (binding, signal) =>
        withChannelErrors(binding.token, "bot", async () => {
          await clients.call(binding, signal, (api, signal) => api.deleteWebhook(undefined, signal));
        }),

      receive: (binding, secret, request, sink) =>
        receiveUpdate(binding, secret, request, sink, {
          onFailure: (error) =>
            log.warn("telegram: an update could not be stored", { agentId: binding.agentId, error }),
          onButtonPressed: (pressed, isAnswer) => finishButton(binding, pressed, isAnswer),
        }),
    },

    send: delivery.send,
    preview: delivery.preview,

    typing: (binding, address, signal) =>
      withChannelErrors(binding.token, "peer", async () => {
        const { chat, thread } = parsePeer(address);
        const options = thread === undefined ? {} : { message_thread_id: thread };
        await clients.call(binding, signal, (api, signal) => api.sendChatAction(chat, "typing", options, signal));
      }),

    fetchFile: (binding, { ref }, limit, signal) =>
      withChannelErrors(binding.token, "peer", () => downloadFile({ clients, apiRoot }, binding, ref, limit, signal)),

    forget(binding) {
      clients.forget(binding.token);
      sendLimiter.forget(binding.bot.id);
      delivery.forget(binding);
      botsWithMenu.delete(binding.bot.id);
    },
  };
}
