// Discord (channel_b): the port's verbs over the gateway and REST version 10, by discord.js's own parts for the two. Of a
// bot that says nothing only its connection is kept.
import type { Binding, ChannelAdapter, ConnectionListener } from "../port.ts";
import { createLruCache } from "../shared/lru-cache.ts";
import { createDelivery } from "./delivery/delivery.ts";
import { createInteractions } from "./delivery/interactions.ts";
import { withChannelErrors } from "./errors.ts";
import { createListener } from "./gateway/listener.ts";
import { isSnowflake } from "./ids.ts";
import { DISCORD_RATE_RULES, type DiscordRateRules } from "./rate-rules.ts";
import { createBotRoles } from "./rest/bot-roles.ts";
import { downloadFile, FILE_HOSTS } from "./rest/file-download.ts";
import { createInvalidRequestLimit, MAX_PER_BOT } from "./rest/invalid-request-limit.ts";
import { createRestClients, type RecordTraffic } from "./rest/rest-clients.ts";
import { createSlashCommands } from "./rest/slash-commands.ts";

export interface DiscordOptions {
  /** Discord's REST API without a version: `https://discord.com/api`. */
  apiRoot: string;
  /** The slash commands beside `/ask`: each with what it does. */
  commands: Readonly<Record<string, string>>;
  log: {
    debug(message: string, fields?: Record<string, unknown>): void;
    warn(message: string, fields?: Record<string, unknown>): void;
  };
  /** Told the bytes of each call and each message in an agent's name. */
  traffic?: RecordTraffic;
  /** Where files may lie: hosts asked over https, or whole origins. Discord's own, and that of the API, unless told otherwise. */
  fileHosts?: readonly string[];
  /** How often things may be done; Discord's own limits unless told otherwise. */
  rules?: DiscordRateRules;
}

/** Discord is listened to, and shows replies while they grow. */
export type DiscordChannel = ChannelAdapter &
  Required<Pick<ChannelAdapter, "preview">> & { listener: ConnectionListener };

/** A token that was refused does not become good: whoever tries it again is not a call to Discord each time. */
const REFUSAL_LIFETIME_MS = 60_000;
const TOO_MANY_TOKENS = "Discord refused too many tokens that were to be connected here. Try again in some minutes.";

/** Two and a half heartbeats, which Discord asks for every 41 s. */
const SILENCE_TIMEOUT_MS = 110_000;

/**
 * The Discord adapter: one gateway connection per bot, resumed where it ended; replies that grow by edits; slash commands.
 *
 * @example
 * const discord = createDiscord({ apiRoot: "https://discord.com/api", commands: { help: "what I understand" }, log });
 * const bot = await discord.identify(token, AbortSignal.timeout(10_000));
 */
export function createDiscord(options: DiscordOptions): DiscordChannel {
  const { apiRoot, commands, log, traffic, fileHosts, rules = DISCORD_RATE_RULES } = options;
  const allowedFileHosts = fileHosts ?? [...FILE_HOSTS, new URL(apiRoot).origin];
  const invalidRequestLimit = createInvalidRequestLimit();
  const clients = createRestClients({ apiRoot, traffic, invalidRequestLimit });
  // Anybody may try any token: what comes of that must not make the bots of others wait.
  const tokenCheckClients = createRestClients({
    apiRoot,
    invalidRequestLimit: createInvalidRequestLimit({
      max: MAX_PER_BOT,
      message: TOO_MANY_TOKENS,
      parent: invalidRequestLimit,
    }),
    refusalLifetime: REFUSAL_LIFETIME_MS,
  });
  const directMessageChannels = createLruCache<true>(4096);
  const interactions = createInteractions({
    clients,
    onFailure: ({ agentId }, reason) => log.debug("discord: a command was not acknowledged", { agentId, reason }),
  });
  const delivery = createDelivery({ clients, interactions, directMessageChannels, rules });
  const slashCommands = createSlashCommands({
    clients,
    commands,
    onFailure: ({ agentId }, reason) => log.debug("discord: the slash commands were not set", { agentId, reason }),
  });
  const botRoles = createBotRoles(clients);
  const listen = createListener({
    clients,
    interactions,
    directMessageChannels,
    findBotRole: botRoles.own,
    onConnected: slashCommands.publish,
    onUnreadableEvent: ({ agentId }, event) => log.warn("discord: an event could not be read", { agentId, event }),
    traffic,
    rules,
  });

  return {
    id: "channel_b",

    identify: (token, signal) =>
      withChannelErrors("bot", async () => {
        const me = await tokenCheckClients.call({ token }, signal, { method: "get", path: "/users/@me" });
        tokenCheckClients.forget(token);
        // Whatever was refused before: it is good now.
        clients.forget(token);
        const { id, username } = me as { id?: unknown; username?: unknown };
        if (isSnowflake(id) && typeof username === "string") return { id, username };
        throw new TypeError("This is no user.");
      }),

    listener: {
      silenceTimeout: SILENCE_TIMEOUT_MS,
      listen: (binding, sink, signal) => withChannelErrors("bot", () => listen(binding, sink, signal)),
    },

    send: delivery.send,
    preview: delivery.preview,
    typing: delivery.typing,

    fetchFile: (binding, { ref }, limit, signal) =>
      withChannelErrors("peer", () => downloadFile({ clients, allowedFileHosts }, binding, ref, limit, signal)),

    forget(binding: Binding) {
      clients.forget(binding.token);
      delivery.forget(binding);
      interactions.forget(binding.bot.id);
      slashCommands.forget(binding);
    },
  };
}
