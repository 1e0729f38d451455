// Leaves a server of NATS that answers and can't write: one that is cut off from the other servers, which go on without it.
import type { NatsConnection } from "@nats-io/transport-node";

/** Longer than the servers take to elect a leader; the cells of this machine are gone by then anyway. */
const SILENT_MS = 10_000;
/** All servers may be without a leader, which none of them changes. */
const PAUSE_MS = 10_000;

/** Returns what watches calls that are made again and again, such as renewals of a lease. */
export function createServerChoice(connection: Pick<NatsConnection, "reconnect">, now = () => performance.now()) {
  /** Monotonic ms. */
  let failedSince: number | undefined;
  let leftAt = Number.NEGATIVE_INFINITY;

  return async function watched<Result>(call: Promise<Result>): Promise<Result> {
    try {
      const result = await call;
      failedSince = undefined;
      return result;
    } catch (error) {
      failedSince ??= now();
      if (now() - failedSince >= SILENT_MS && now() - leftAt >= PAUSE_MS) {
        [failedSince, leftAt] = [undefined, now()];
        // To the next one of its list; without a connection, that is under way already.
        await connection.reconnect();
      }
      throw error;
    }
  };
}
