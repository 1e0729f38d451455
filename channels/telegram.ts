// Telegram (channel_a): the port's verbs over the Bot API. Nothing is kept for a bot but what it used in the last moments.
import type { Binding, Channel, Listening, Posts } from "./channel.ts";
import { createRecent } from "./shared/recent.ts";
import { apiSignal, createApis, guarded, type Traffic } from "./telegram/api.ts";
import { createDelivery } from "./telegram/deliver.ts";
import { toChannelError } from "./telegram/errors.ts";
import { fetchFile } from "./telegram/files.ts";
import { createPace, type Rules } from "./telegram/pace.ts";
import { parsePeer } from "./telegram/peer.ts";
import { POLL_SECONDS, poll } from "./telegram/poll.ts";
import { WANTED } from "./telegram/read.ts";
import { receiveUpdate } from "./telegram/webhook.ts";

const MENU_WITHIN = 20_000;

export interface TelegramOptions {
  /** The Bot API server, without a bot: `https://api.telegram.org`. */
  apiRoot: string;
  /** The bots' menu: each command with what it does. */
  commands: Readonly<Record<string, string>>;
  log: {
    debug(message: string, fields?: Record<string, unknown>): void;
    warn(message: string, fields?: Record<string, unknown>): void;
  };
  /** Told the bytes of each call in an agent's name. */
  traffic?: Traffic;
  /** How often may be written; Telegram's own limits unless told otherwise. */
  rules?: Rules;
}

/** Telegram has both ways to receive, and shows replies while they grow. */
export type TelegramChannel = Channel & {
  listening: Listening;
  posts: Posts;
  preview: NonNullable<Channel["preview"]>;
};

/**
 * The Telegram adapter: long polling or webhook, drafts or edits while a reply grows, Markdown shown as Telegram shows it.
 *
 * @example
 * const telegram = createTelegram({ apiRoot: "https://api.telegram.org", commands: { help: "what I understand" }, log });
 * const bot = await telegram.identify(token, AbortSignal.timeout(10_000));
 */
export function createTelegram({ apiRoot, commands, log, traffic, rules }: TelegramOptions): TelegramChannel {
  const menu = Object.entries(commands).map(([command, description]) => ({ command, description }));
  const apis = createApis(apiRoot, traffic);
  const pace = createPace(rules);
  const delivery = createDelivery({ apis, pace });
  /** Bots whose menu of commands was set by this process. */
  const withMenu = createRecent<true>(1024);

  /** Sets the menu of commands, once per bot; without it everything works, so a failure is only noted. */
  async function publishCommands(binding: Binding, signal: AbortSignal): Promise<void> {
    const { agentId, token, bot } = binding;
    if (withMenu.get(bot.id)) return;
    withMenu.set(bot.id, true);
    try {
      // Not with a client that is kept: most bots have nothing else to say for a while.
      const limit = AbortSignal.any([signal, AbortSignal.timeout(MENU_WITHIN)]);
      await apis.bare(binding, "setMyCommands", { commands: menu }, limit);
    } catch (error) {
      withMenu.delete(bot.id);
      log.debug("telegram: the commands menu was not set", {
        agentId,
        reason: toChannelError(error, "bot", token).message,
      });
    }
  }

  return {
    id: "channel_a",

    identify: (token, signal) =>
      guarded(token, "bot", async () => {
        const api = await apis.open({ token });
        const me = await api.getMe(apiSignal(signal));
        return { id: String(me.id), username: me.username };
      }),

    listening: {
      silentAfter: (POLL_SECONDS + 30) * 1000,
      listen: (binding, sink, signal) =>
        guarded(binding.token, "bot", async () => {
          const { agentId } = binding;
          await poll(apis, binding, sink, signal, {
            connected: () => publishCommands(binding, signal),
            unreadable: (error) => log.warn("telegram: an update could not be read", { agentId, error }),
          });
        }),
    },

    posts: {
      register: (binding, callback, signal) =>
        guarded(binding.token, "bot", async () => {
          const options = { secret_token: callback.secret, allowed_updates: WANTED };
          await apis.call(binding, signal, (api, signal) => api.setWebhook(callback.url, options, signal));
          await publishCommands(binding, signal);
        }),

      unregister: (binding, signal) =>
        guarded(binding.token, "bot", async () => {
          await apis.call(binding, signal, (api, signal) => api.deleteWebhook(undefined, signal));
        }),

      receive: (binding, secret, request, sink) =>
        receiveUpdate(binding, secret, request, sink, (error) =>
          log.warn("telegram: an update could not be stored", { agentId: binding.agentId, error }),
        ),
    },

    send: delivery.send,
    preview: delivery.preview,

    typing: (binding, address, signal) =>
      guarded(binding.token, "peer", async () => {
        const { chat, thread } = parsePeer(address);
        const options = thread === undefined ? {} : { message_thread_id: thread };
        await apis.call(binding, signal, (api, signal) => api.sendChatAction(chat, "typing", options, signal));
      }),

    fetchFile: (binding, { ref }, limit, signal) =>
      guarded(binding.token, "peer", () => fetchFile({ apis, apiRoot }, binding, ref, limit, signal)),

    forget(binding) {
      apis.forget(binding.token);
      pace.forget(binding.bot.id);
      delivery.forget(binding);
      withMenu.delete(binding.bot.id);
    },
  };
}
