// Follows a cell for as long as this node is its standby. When that fails it begins anew, after longer and longer pauses.
import type { Log } from "../../kernel/telemetry/log.ts";
import { isOfCluster } from "./failures.ts";
import type { Follower } from "./follower.ts";

export interface Following {
  readonly isActive: boolean;
  /** Whether it has failed, and has applied nothing of the log since. */
  readonly isStuck: boolean;
  /** The last entry that the file has applied; 0 while it is not followed. */
  readonly number: number;
  /** Begins, unless it is active or in a pause. Throws if the engine is away. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

export interface FollowingDeps {
  cell: number;
  log: Log;
  /** Makes sure that there is a file that can go on. */
  renew(): Promise<void>;
  follow(onBroken: (error: unknown) => void): Promise<Follower>;
  onFailed(error: unknown): void;
  /** Called with the last entry that the file has applied. */
  onEnded(number: number): void;
  /** Asks for a `start`. */
  wake(): void;
}

/** Milliseconds of the pause after a failure: the first, and the longest. */
const PAUSE_MS = 500;
const MAX_PAUSE_MS = 30_000;

export function createFollowing({ cell, log, renew, follow, onFailed, onEnded, wake }: FollowingDeps): Following {
  let follower: Follower | undefined;
  /** Why the follower has ended. */
  let failure: { error: unknown } | undefined;
  /** Failures in a row. */
  let failures = 0;
  let pausedUntil = 0;
  let timer: Timer | undefined;

  async function end(): Promise<void> {
    const former = follower;
    follower = undefined;
    failure = undefined;
    clearTimeout(timer);
    await former?.stop();
    if (former) onEnded(former.progress.number);
  }

  /** Without a snapshot, or with a newer version's file, the next try may fail alike. */
  async function fail(error: unknown): Promise<void> {
    failures = follower?.hasApplied ? 1 : failures + 1;
    await end();
    onFailed(error);
    const inMs = Math.min(PAUSE_MS * 2 ** (failures - 1), MAX_PAUSE_MS);
    pausedUntil = performance.now() + inMs;
    timer = setTimeout(wake, inMs);
    log.warn("this node can't follow a cell and is no standby of it; trying again", { cell, inMs, error });
  }

  return {
    get isActive() {
      return follower !== undefined && failure === undefined;
    },
    get isStuck() {
      return failures > 0 && !follower?.hasApplied;
    },
    get number() {
      return follower?.progress.number ?? 0;
    },
    async start() {
      if (failure) await fail(failure.error);
      if (follower || performance.now() < pausedUntil) return;
      clearTimeout(timer);
      try {
        await renew();
        follower = await follow((error) => {
          failure = { error };
          wake();
        });
        log.info("this node follows the cell", { cell, number: follower.progress.number });
      } catch (error) {
        if (isOfCluster(error)) throw error;
        await fail(error);
      }
    },
    async stop() {
      await end();
      failures = 0;
      pausedUntil = 0;
    },
  };
}
