// The role that came with a bot into a guild. People name it instead of the bot: both look the same.
import type { Binding } from "../channel.ts";
import { createRecent } from "../shared/recent.ts";
import type { Apis } from "./api.ts";

const KEPT_FOR = 60 * 60_000;

export function createRoles(apis: Apis) {
  const known = createRecent<{ id: string | undefined; until: number }>(1024);

  return {
    /** Undefined where it can't be found out, too: then the bot was not named. */
    async own(binding: Binding, guild: string, signal: AbortSignal): Promise<string | undefined> {
      const key = `${binding.bot.id} ${guild}`;
      const found = known.get(key);
      if (found && found.until > Date.now()) return found.id;
      const roles = await apis
        .call(binding, signal, { method: "get", path: `/guilds/${guild}/roles` })
        .catch(() => undefined);
      if (!Array.isArray(roles)) return undefined;
      const own = (roles as { id: string; tags?: { bot_id?: string } }[]).find(
        ({ tags }) => tags?.bot_id === binding.bot.id,
      );
      known.set(key, { id: own?.id, until: Date.now() + KEPT_FOR });
      return own?.id;
    },
  };
}
