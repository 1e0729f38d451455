// Discord (channel_b): the port's verbs over the gateway and REST version 10, by discord.js's own parts for the two. Of a
// bot that says nothing only its connection is kept.
import type { Binding, Channel, Listening } from "./channel.ts";
import { createApis, type Traffic } from "./discord/api.ts";
import { createCommands } from "./discord/commands.ts";
import { createDelivery } from "./discord/deliver.ts";
import { guarded } from "./discord/errors.ts";
import { FILE_HOSTS, fetchFile } from "./discord/files.ts";
import { createGuard, SHARE } from "./discord/guard.ts";
import { createInteractions } from "./discord/interactions.ts";
import { createListening } from "./discord/listen.ts";
import { isSnowflake } from "./discord/peer.ts";
import { createRoles } from "./discord/roles.ts";
import { DISCORD_RULES, type Rules } from "./discord/rules.ts";
import { createRecent } from "./shared/recent.ts";

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
  traffic?: Traffic;
  /** Where files may lie: hosts asked over https, or whole origins. Discord's own, and that of the API, unless told otherwise. */
  fileHosts?: readonly string[];
  /** How often things may be done; Discord's own limits unless told otherwise. */
  rules?: Rules;
}

/** Discord is listened to, and shows replies while they grow. */
export type DiscordChannel = Channel & Required<Pick<Channel, "preview">> & { listening: Listening };

/** A token that was refused does not become good: whoever tries it again is not a call to Discord each time. */
const REFUSED_FOR = 60_000;
const TOO_MANY_TOKENS = "Discord refused too many tokens that were to be connected here. Try again in some minutes.";

/** Two and a half heartbeats, which Discord asks for every 41 s. */
const SILENT_AFTER = 110_000;

/**
 * The Discord adapter: one gateway connection per bot, resumed where it ended; replies that grow by edits; slash commands.
 *
 * @example
 * const discord = createDiscord({ apiRoot: "https://discord.com/api", commands: { help: "what I understand" }, log });
 * const bot = await discord.identify(token, AbortSignal.timeout(10_000));
 */
export function createDiscord(options: DiscordOptions): DiscordChannel {
  const { apiRoot, commands, log, traffic, fileHosts, rules = DISCORD_RULES } = options;
  const hosts = fileHosts ?? [...FILE_HOSTS, new URL(apiRoot).origin];
  const guard = createGuard();
  const apis = createApis({ apiRoot, traffic, guard });
  // Anybody may try any token: what comes of that must not make the bots of others wait.
  const tried = createApis({
    apiRoot,
    guard: createGuard({ most: SHARE, says: TOO_MANY_TOKENS, whole: guard }),
    deadFor: REFUSED_FOR,
  });
  const privates = createRecent<true>(4096);
  const interactions = createInteractions({
    apis,
    noted: ({ agentId }, reason) => log.debug("discord: a command was not acknowledged", { agentId, reason }),
  });
  const delivery = createDelivery({ apis, interactions, privates, rules });
  const menu = createCommands({
    apis,
    commands,
    noted: ({ agentId }, reason) => log.debug("discord: the slash commands were not set", { agentId, reason }),
  });
  const roles = createRoles(apis);
  const listen = createListening({
    apis,
    interactions,
    privates,
    ownRole: roles.own,
    connected: menu.publish,
    unreadable: ({ agentId }, event) => log.warn("discord: an event could not be read", { agentId, event }),
    traffic,
    rules,
  });

  return {
    id: "channel_b",

    identify: (token, signal) =>
      guarded("bot", async () => {
        const me = await tried.call({ token }, signal, { method: "get", path: "/users/@me" });
        tried.forget(token);
        // Whatever was refused before: it is good now.
        apis.forget(token);
        const { id, username } = me as { id?: unknown; username?: unknown };
        if (isSnowflake(id) && typeof username === "string") return { id, username };
        throw new TypeError("This is no user.");
      }),

    listening: {
      silentAfter: SILENT_AFTER,
      listen: (binding, sink, signal) => guarded("bot", () => listen(binding, sink, signal)),
    },

    send: delivery.send,
    preview: delivery.preview,
    typing: delivery.typing,

    fetchFile: (binding, { ref }, limit, signal) =>
      guarded("peer", () => fetchFile({ apis, hosts }, binding, ref, limit, signal)),

    forget(binding: Binding) {
      apis.forget(binding.token);
      delivery.forget(binding);
      interactions.forget(binding.bot.id);
      menu.forget(binding);
    },
  };
}
