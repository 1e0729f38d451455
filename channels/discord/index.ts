// Discord (channel_b): implements the port over the gateway and REST version 10, by discord.js's modules for the two.
// An idle bot keeps only its connection.

import { createBoundedMap } from "../../src/kernel/util/bounded-map.ts";
import { MINUTE } from "../../src/kernel/util/time.ts";
import type { ChannelLog } from "../definition.ts";
import type { Binding, ChannelAdapter, ConnectionListener, RecordTraffic } from "../port.ts";
import { createButtonPresses } from "./delivery/buttons.ts";
import { createDelivery } from "./delivery/delivery.ts";
import { createInteractions } from "./delivery/interactions.ts";
import { withChannelErrors } from "./errors.ts";
import { createListener } from "./gateway/listener.ts";
import { isSnowflake } from "./ids.ts";
import { DISCORD_RATE_RULES, type DiscordRateRules } from "./rate-rules.ts";
import { createBotRoles } from "./rest/bot-roles.ts";
import { downloadFile, FILE_HOSTS } from "./rest/file-download.ts";
import { createInvalidRequestLimit, MAX_PER_BOT } from "./rest/invalid-request-limit.ts";
import { createRestClients } from "./rest/rest-clients.ts";
import { createSlashCommands } from "./rest/slash-commands.ts";

export interface DiscordOptions {
  /** The REST API without a version, such as `https://discord.com/api`. */
  apiRoot: string;
  /** The slash commands beside `/ask`: name to description. */
  commands: Readonly<Record<string, string>>;
  log: ChannelLog;
  traffic?: RecordTraffic;
  /** Hosts (over https) or origins that files may be fetched from. Default: Discord's, and the API's origin. */
  fileHosts?: readonly string[];
  /** Rate limits. Default: Discord's own. */
  rules?: DiscordRateRules;
}

/** Discord has a gateway to listen to, and shows previews. */
export type DiscordChannel = ChannelAdapter &
  Required<Pick<ChannelAdapter, "preview">> & { listener: ConnectionListener };

/** How long a refused token is refused here, without another call to Discord. */
const REFUSAL_LIFETIME_MS = MINUTE;
const TOO_MANY_TOKENS = "Discord refused too many tokens from this host. Try again in some minutes.";

/**
 * Creates the Discord adapter: one resumable gateway connection for each bot, previews by edits, slash commands.
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
  // Anyone may submit any token, so these calls have a separate limit: they must not block connected bots.
  const tokenCheckClients = createRestClients({
    apiRoot,
    invalidRequestLimit: createInvalidRequestLimit({
      max: MAX_PER_BOT,
      message: TOO_MANY_TOKENS,
      parent: invalidRequestLimit,
    }),
    refusalLifetime: REFUSAL_LIFETIME_MS,
  });
  const directMessageChannels = createBoundedMap<true>(4096);
  const interactions = createInteractions({
    clients,
    onFailure: ({ agentId }, reason) => log.debug("discord: a command was not acknowledged", { agentId, reason }),
  });
  const buttonPresses = createButtonPresses({
    clients,
    onFailure: ({ agentId }, reason) => log.debug("discord: a button was not finished", { agentId, reason }),
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
    buttonPresses,
    directMessageChannels,
    findBotRole: botRoles.own,
    onConnected: slashCommands.publish,
    onUnreadableEvent: ({ agentId }, event) => log.warn("discord: an event could not be read", { agentId, event }),
    traffic,
    rules,
  });

  return {
    identify: (token, signal) =>
      withChannelErrors("bot", async () => {
        const me = await tokenCheckClients.call({ token }, signal, { method: "get", path: "/users/@me" });
        tokenCheckClients.forget(token);
        // The token works now, even if it was refused before.
        clients.forget(token);
        const { id, username, global_name: name } = me as { id?: unknown; username?: unknown; global_name?: unknown };
        if (isSnowflake(id) && typeof username === "string") {
          return { id, username, ...(typeof name === "string" ? { name } : {}) };
        }
        throw new TypeError("Discord's answer holds no user.");
      }),

    listener: {
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
