// Finds the role that Discord made for a bot in a guild. People mention it instead of the bot, because both look alike.

import { createBoundedMap } from "../../../src/kernel/util/bounded-map.ts";
import { HOUR } from "../../../src/kernel/util/time.ts";
import type { Binding } from "../../port.ts";
import type { RestClients } from "./rest-clients.ts";

const CACHE_LIFETIME_MS = HOUR;

export function createBotRoles(clients: RestClients) {
  const cache = createBoundedMap<{ id: string | undefined; until: number }>(1024);

  return {
    /** The id of the role; undefined if there is none or the roles can't be read. */
    async own(binding: Binding, guild: string, signal: AbortSignal): Promise<string | undefined> {
      const key = `${binding.bot.id} ${guild}`;
      const found = cache.get(key);
      if (found && found.until > Date.now()) return found.id;
      const roles = await clients
        .call(binding, signal, { method: "get", path: `/guilds/${guild}/roles` })
        .catch(() => undefined);
      if (!Array.isArray(roles)) return undefined;
      const own = (roles as { id: string; tags?: { bot_id?: string } }[]).find(
        ({ tags }) => tags?.bot_id === binding.bot.id,
      );
      cache.set(key, { id: own?.id, until: Date.now() + CACHE_LIFETIME_MS });
      return own?.id;
    },
  };
}
