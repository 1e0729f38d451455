// Counts refused calls and blocks all calls before Discord bans the host, which it does after 10,000 refusals in ten
// minutes. Each bot, and all unknown tokens together, have a smaller limit, so that they can't block other bots.
// https://discord.com/developers/docs/topics/rate-limits#invalid-request-limit-aka-cloudflare-bans
import { MINUTE } from "../../../src/kernel/util/time.ts";
import { ChannelError } from "../../port.ts";

const WINDOW_MINUTES = 10;
/** Half of Discord's limit, because other programs may share the address. */
const MAX_PER_HOST = 5_000;
/** The limit of one bot, and of all tokens that are being checked. */
export const MAX_PER_BOT = 500;

export interface InvalidRequestLimit {
  /** Throws `busy` while there are too many recent refusals. */
  check(): void;
  /** Counts a response; true if it was a refusal that counts. */
  count(status: number, scope: string | null): boolean;
}

interface Options {
  /** Refusals allowed within ten minutes. */
  max?: number;
  /** The message of the error. */
  message?: string;
  /** The limit that this is a part of; it is checked and counted too. */
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
    const oldest = Math.floor(now() / MINUTE) - WINDOW_MINUTES;
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
      throw new ChannelError("busy", message, "bot", MINUTE);
    },
    count(status, scope) {
      parent?.count(status, scope);
      // Discord does not count a 429 by a shared limit, which others may have used up.
      if (status !== 401 && status !== 403 && (status !== 429 || scope === "shared")) return false;
      const minute = Math.floor(now() / MINUTE);
      if (!minutes.has(minute)) forgetOld();
      minutes.set(minute, (minutes.get(minute) ?? 0) + 1);
      total += 1;
      return true;
    },
  };
}
