// Keeps the outcomes and response times of the last calls of each provider, for the admins' overview.
import type { ProviderId } from "../providers/provider.ts";

/** The last calls of one provider since the start of the process. */
export interface CallFigures {
  /** Calls that these figures cover, at most 256. */
  calls: number;
  /** Of them those that failed. */
  failed: number;
  /** Milliseconds until the provider began to respond, of calls that it answered; undefined without one. */
  medianMs: number | undefined;
  p95Ms: number | undefined;
  /** Epoch ms of the last call; undefined before the first. */
  lastAt: number | undefined;
}

export interface CallRecorder {
  /** Records one call; `ms` is undefined if the provider did not answer. */
  record(provider: ProviderId, failed: boolean, ms: number | undefined): void;
  figuresOf(provider: ProviderId): CallFigures;
}

const SIZE = 256;

interface RecentCalls {
  /** Milliseconds of each call; NaN where there was no answer. */
  readonly times: Float32Array;
  readonly failures: Uint8Array;
  count: number;
  lastAt: number;
}

/** Takes about 1.3 kB for each provider that was called. */
export function createCallRecorder(now = Date.now): CallRecorder {
  const byProvider = new Map<ProviderId, RecentCalls>();
  return {
    record(provider, failed, ms = Number.NaN) {
      let recent = byProvider.get(provider);
      if (!recent) {
        recent = { times: new Float32Array(SIZE), failures: new Uint8Array(SIZE), count: 0, lastAt: 0 };
        byProvider.set(provider, recent);
      }
      recent.times[recent.count % SIZE] = ms;
      recent.failures[recent.count % SIZE] = failed ? 1 : 0;
      recent.count++;
      recent.lastAt = now();
    },

    figuresOf(provider) {
      const recent = byProvider.get(provider);
      if (!recent) return { calls: 0, failed: 0, medianMs: undefined, p95Ms: undefined, lastAt: undefined };
      const calls = Math.min(recent.count, SIZE);
      const times = recent.times
        .subarray(0, calls)
        .filter((ms) => !Number.isNaN(ms))
        .sort();
      const quantile = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))];
      return {
        calls,
        failed: recent.failures.subarray(0, calls).reduce((sum, one) => sum + one, 0),
        medianMs: quantile(0.5),
        p95Ms: quantile(0.95),
        lastAt: recent.lastAt,
      };
    },
  };
}
