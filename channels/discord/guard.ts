// Discord bans an address that had 10,000 refused calls within ten minutes, and with it every bot of this host: all calls
// wait before that. https://discord.com/developers/docs/topics/rate-limits#invalid-request-limit-aka-cloudflare-bans
import { ChannelError } from "../channel.ts";

const MINUTE = 60_000;
const MINUTES = 10;
/** Half of what Discord takes: others may share the address. */
const MOST = 5_000;

export interface Guard {
  /** Throws `busy` while there were too many refusals. */
  check(): void;
  count(status: number, scope: string | null): void;
}

export function createGuard(most = MOST, now: () => number = Date.now): Guard {
  /** Refusals by minute. */
  const minutes = new Map<number, number>();
  let total = 0;

  function forgetOld(): void {
    const oldest = Math.floor(now() / MINUTE) - MINUTES;
    for (const [minute, count] of minutes) {
      if (minute > oldest) continue;
      minutes.delete(minute);
      total -= count;
    }
  }

  return {
    check() {
      if (total < most) return;
      forgetOld();
      if (total < most) return;
      const text = "Discord refused too many calls of this host; all its bots wait, so that it is not banned.";
      throw new ChannelError("busy", text, "bot", MINUTE);
    },
    count(status, scope) {
      // What others did to a shared limit is not counted.
      if (status !== 401 && status !== 403 && (status !== 429 || scope === "shared")) return;
      const minute = Math.floor(now() / MINUTE);
      if (!minutes.has(minute)) forgetOld();
      minutes.set(minute, (minutes.get(minute) ?? 0) + 1);
      total += 1;
    },
  };
}
