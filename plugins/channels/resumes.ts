// Where each connection of our own is in what its platform has to say, kept so that a restart goes on from there.
import type { Kernel } from "../../src/plugin.ts";
import type { Connections } from "./connections.ts";
import type { Line } from "./lines.ts";

/** A kill loses no more than this; what came in between comes again, and is known by its id. */
const KEEP_EVERY = 5_000;
/** After a rest, and for a connection of which nothing was kept yet: a kill would lose what is said until the next start. */
const KEEP_SOON = 50;

export interface Resumes {
  /** Returns at once; may be called with each message. */
  keep(line: Line, resume: string): void;
  /** Writes what is not yet written. */
  stop(): Promise<void>;
}

export function createResumes({ connections, log }: Pick<Kernel, "log"> & { connections: Connections }): Resumes {
  let waiting = new Map<string, string>();
  let clock: Timer | undefined;
  let due = 0;
  let written = 0;

  async function write(): Promise<void> {
    clearTimeout(clock);
    clock = undefined;
    written = Date.now();
    const known = waiting;
    waiting = new Map();
    if (known.size === 0) return;
    try {
      await connections.keepResumes(known);
    } catch (error) {
      log.error("where the channels are could not be recorded", { error });
    }
  }

  return {
    keep({ binding, connection }, resume) {
      if (binding.resume === resume) return;
      const now = Date.now();
      const rest = binding.resume === undefined ? 0 : written + KEEP_EVERY - now;
      const at = now + Math.max(KEEP_SOON, rest);
      binding.resume = resume;
      waiting.set(connection.callbackId, resume);
      if (clock && due <= at) return;
      clearTimeout(clock);
      due = at;
      clock = setTimeout(write, at - now).unref();
    },
    stop: write,
  };
}
