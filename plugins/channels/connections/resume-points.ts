// Saves the resume point of each connection, in batches, so that a restart continues from there.
import type { Kernel } from "../../../src/kernel/plugin.ts";
import type { ConnectionStore } from "./connection-store.ts";
import type { OpenConnection } from "./open-connections.ts";

/** A crash loses at most this much; messages of that time come again and are recognised by their ids. */
const SAVE_INTERVAL_MS = 5_000;
/**
 * The delay after an idle time, and for a first resume point: without one, a crash would lose messages until the next
 * start.
 */
const SAVE_DELAY_MS = 50;

/** The part of an open connection that has a resume point. */
export interface ResumableConnection {
  readonly binding: Pick<OpenConnection["binding"], "resume">;
  readonly connection: Pick<OpenConnection["connection"], "callbackId">;
}

export interface ResumePoints {
  /** Saves a resume point later and returns at once; may be called with each message. */
  save(openConnection: ResumableConnection, resume: string): void;
  /** Writes what is pending. */
  stop(): Promise<void>;
}

export function createResumePoints({
  connections,
  log,
}: {
  log: Pick<Kernel["log"], "error">;
  connections: Pick<ConnectionStore, "saveResumePoints">;
}): ResumePoints {
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
      log.error("saving resume points failed", { error });
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
