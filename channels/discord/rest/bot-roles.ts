// The role that came with a bot into a guild. People name it instead of the bot: both look the same.
import type { Binding } from "../../port.ts";
import { createLruCache } from "../../shared/lru-cache.ts";
import type { RestClients } from "./rest-clients.ts";

const CACHE_LIFETIME_MS = 60 * 60_000;

export function createBotRoles(clients: RestClients) {
  const cache = createLruCache<{ id: string | undefined; until: number }>(1024);

  return {
    /** Undefined where it can't be found out, too: then the bot was not named. */
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
