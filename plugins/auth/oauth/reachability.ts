// Knows whether the providers answer, so that pages can say so before a visitor leaves for one that is down.
import type { Log } from "../../../src/kernel/telemetry/log.ts";
import { SECOND } from "../../../src/kernel/util/time.ts";
import type { ProviderId } from "./configured-providers.ts";
import { OAuthFailure } from "./oauth-failure.ts";
import type { Provider } from "./provider.ts";

/** A provider that did not answer is not asked again for this long, however many visitors come. */
const RETRY_MS = 15 * SECOND;

export interface Reachability {
  /** Asks the providers that were not asked lately; resolves within their time-out. Never rejects. */
  check(): Promise<void>;
  /** The last answer; null if this provider was not asked, or can't be. */
  of(id: ProviderId): boolean | null;
}

export function createReachability(
  providers: ReadonlyMap<ProviderId, Pick<Provider, "check">>,
  log: Pick<Log, "warn">,
): Reachability {
  const known = new Map<ProviderId, { answers: boolean; at: number }>();
  const running = new Map<ProviderId, Promise<void>>();

  /** A provider that answered is asked each time: it remembers its answer for an hour by itself. */
  async function ask(id: ProviderId, check: () => Promise<void>): Promise<void> {
    const last = known.get(id);
    if (last && !last.answers && Date.now() - last.at < RETRY_MS) return;
    try {
      await check();
      known.set(id, { answers: true, at: Date.now() });
    } catch (error) {
      if (last?.answers !== false) {
        const reason = error instanceof OAuthFailure ? error.reason : "no answer";
        log.warn("A provider for sign-in does not answer", { provider: id, reason });
      }
      known.set(id, { answers: false, at: Date.now() });
    }
  }

  return {
    async check() {
      await Promise.all(
        [...providers].map(([id, { check }]) => {
          if (!check) return undefined;
          const asked = running.get(id) ?? ask(id, check).finally(() => running.delete(id));
          running.set(id, asked);
          return asked;
        }),
      );
    },
    of: (id) => known.get(id)?.answers ?? null,
  };
}
