// Remembers which places outside of the service do not work, since when and why: for the overview, `berth doctor` and alerts.

import type { Log } from "./log.ts";
import type { Metrics } from "./metrics.ts";
import { REDACTED } from "./redact.ts";

export interface Outage {
  /** The name of the place, as a label of metrics. */
  of: string;
  /** Epoch ms. */
  since: number;
  /** One line, without secrets. */
  reason: string;
}

export interface OutageWatch {
  /** True if it worked before. */
  failed(error: unknown): boolean;
  /** True if it failed before. */
  worked(): boolean;
}

export interface Outages {
  watch(of: string): OutageWatch;
  /** Those that last, by their names. */
  readonly current: ReadonlyMap<string, Outage>;
}

const MAX_REASON = 300;

interface Deps {
  metrics: Pick<Metrics, "gauge">;
  log: Pick<Log, "redactForms">;
  /** Values that no reason may have. */
  secrets: readonly string[];
  now?: () => number;
}

export function createOutages({ metrics, log, secrets, now = Date.now }: Deps): Outages {
  const watched: string[] = [];
  const current = new Map<string, Outage>();
  return {
    current,
    watch(of) {
      if (watched.push(of) === 1) {
        metrics.gauge(
          "berth_outage_seconds",
          "For how long a place outside of the service has not worked; 0 while it does.",
          ["of"],
          () => watched.map((of) => [{ of }, (now() - (current.get(of)?.since ?? now())) / 1000]),
        );
      }
      const reasonOf = (cause: unknown) => {
        if (!(cause instanceof Error)) return String(cause);
        const text = cause.message.replace(/\s+/g, " ").trim();
        const code = "code" in cause && typeof cause.code === "string" ? cause.code : "";
        return (text.includes(code) ? text : `${text} (${code})`).slice(0, MAX_REASON);
      };
      return {
        failed(error) {
          // The innermost cause says what happened; those around it say what it means for people.
          let cause = error;
          while (cause instanceof Error && cause.cause instanceof Error) cause = cause.cause;
          const text = secrets.reduce((hidden, secret) => hidden.replaceAll(secret, REDACTED), reasonOf(cause));
          const before = current.get(of);
          current.set(of, { of, since: before?.since ?? now(), reason: log.redactForms(text) });
          return before === undefined;
        },
        worked: () => current.delete(of),
      };
    },
  };
}
