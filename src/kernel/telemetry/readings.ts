// Loads the figures that only a scrape asks for, such as counts of the database, so that no other work pays for them.
import { SECOND } from "../util/time.ts";

/** A slow reading does not hold up the scrape any longer: Prometheus gives up after ten seconds. */
const TIMEOUT_MS = 5 * SECOND;

export interface Readings {
  add<Value>(load: () => Promise<Value>): () => Value | undefined;
  /** Loads all values. Never rejects; callers at the same time share one loading. */
  load(): Promise<void>;
}

/** @param onFailure is called for each load that failed or took too long */
export function createReadings(onFailure: () => void, timeoutMs = TIMEOUT_MS): Readings {
  const loaders: (() => Promise<void>)[] = [];
  let loading: Promise<void> | undefined;

  return {
    add<Value>(load: () => Promise<Value>) {
      let value: Value | undefined;
      /** A load that took too long is waited for, rather than started a second time. */
      let late: Promise<Value> | undefined;
      loaders.push(async () => {
        late ??= load().finally(() => {
          late = undefined;
        });
        const timeout = Promise.withResolvers<never>();
        const timer = setTimeout(() => timeout.reject(new Error("The figures could not be read in time.")), timeoutMs);
        try {
          value = await Promise.race([late, timeout.promise]);
        } catch {
          value = undefined;
          onFailure();
        } finally {
          clearTimeout(timer);
        }
      });
      return () => value;
    },
    load() {
      loading ??= Promise.all(loaders.map((one) => one())).then(() => {
        loading = undefined;
      });
      return loading;
    },
  };
}
