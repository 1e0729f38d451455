// Discord bans an address that had 10,000 refused calls within ten minutes, and with it every bot of this host: all calls
// wait before that. One bot has a small share of it, and so have all tokens that nobody knows yet, so that nobody can make
// the bots of others wait. https://discord.com/developers/docs/topics/rate-limits#invalid-request-limit-aka-cloudflare-bans
import { ChannelError } from "../../port.ts";

const MINUTE_MS = 60_000;
const WINDOW_MINUTES = 10;
/** Half of what Discord takes: others may share the address. */
const MAX_PER_HOST = 5_000;
/** Of one bot, and of all tokens that are being connected. */
export const MAX_PER_BOT = 500;

export interface InvalidRequestLimit {
  /** Throws `busy` while there were too many refusals. */
  check(): void;
  /** True when this was a refusal that counts. */
  count(status: number, scope: string | null): boolean;
}

interface Options {
  /** Refusals within ten minutes. */
  max?: number;
  /** Whose calls wait, in words. */
  message?: string;
  /** What this is a part of: it is asked, and told, too. */
  parent?: InvalidRequestLimit;
  now?: () => number;
}

const HOST_LIMIT_REACHED = "Discord refused too many calls of this host; all its bots wait, so that it is not banned.";

export function createInvalidRequestLimit({
  max = MAX_PER_HOST,
  message = HOST_LIMIT_REACHED,
  parent,
  now = Date.now,
}: Options = {}): InvalidRequestLimit {
  /** Refusals by minute. */
  const minutes = new Map<number, number>();
  let total = 0;

  function forgetOld(): void {
    const oldest = Math.floor(now() / MINUTE_MS) - WINDOW_MINUTES;
    for (const [minute, count] of minutes) {
      if (minute > oldest) continue;
      minutes.delete(minute);
      total -= count;
    }
  }

  return {
    check() {
      parent?.check();
      if (total < max) return;
      forgetOld();
      if (total < max) return;
      throw new ChannelError("busy", message, "bot", MINUTE_MS);
    },
    count(status, scope) {
      parent?.count(status, scope);
      // What others did to a shared limit is not counted.
      if (status !== 401 && status !== 403 && (status !== 429 || scope === "shared")) return false;
      const minute = Math.floor(now() / MINUTE_MS);
      if (!minutes.has(minute)) forgetOld();
      minutes.set(minute, (minutes.get(minute) ?? 0) + 1);
      total += 1;
      return true;
    },
  };
}
