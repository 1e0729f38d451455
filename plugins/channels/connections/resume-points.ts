// Where each connection of our own is in what its platform has to say, kept so that a restart goes on from there.
import type { Kernel } from "../../../src/kernel/plugin.ts";
import type { ConnectionStore } from "./connection-store.ts";
import type { OpenConnection } from "./open-connections.ts";

/** A kill loses no more than this; what came in between comes again, and is known by its id. */
const SAVE_INTERVAL_MS = 5_000;
/** After a rest, and for a connection of which nothing was kept yet: a kill would lose what is said until the next start. */
const SAVE_DELAY_MS = 50;

export interface ResumePoints {
  /** Returns at once; may be called with each message. */
  save(openConnection: OpenConnection, resume: string): void;
  /** Writes what is not yet written. */
  stop(): Promise<void>;
}

export function createResumePoints({
  connections,
  log,
}: Pick<Kernel, "log"> & { connections: ConnectionStore }): ResumePoints {
  let pending = new Map<string, string>();
  let timer: Timer | undefined;
  let due = 0;
  let written = 0;

  async function write(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    written = Date.now();
    const batch = pending;
    pending = new Map();
    if (batch.size === 0) return;
    try {
      await connections.saveResumePoints(batch);
    } catch (error) {
      log.error("where the channels are could not be recorded", { error });
    }
  }

  return {
    save({ binding, connection }, resume) {
      if (binding.resume === resume) return;
      const now = Date.now();
      const rest = binding.resume === undefined ? 0 : written + SAVE_INTERVAL_MS - now;
      const at = now + Math.max(SAVE_DELAY_MS, rest);
      binding.resume = resume;
      pending.set(connection.callbackId, resume);
      if (timer && due <= at) return;
      clearTimeout(timer);
      due = at;
      timer = setTimeout(write, at - now).unref();
    },
    stop: write,
  };
}
