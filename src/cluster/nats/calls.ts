// How NATS is called: what its errors mean, and what is made anew after it has lost it.
import { JetStreamApiCodes, JetStreamApiError, type JetStreamManager, type StoredMsg } from "@nats-io/jetstream";
import { EngineUnavailable } from "../engine.ts";

export const RECONNECT_MS = 250;

/** A new cluster of servers refuses its first calls until it has elected a leader. */
export async function inCluster<Result>(call: () => Promise<Result>): Promise<Result> {
  const deadline = performance.now() + 15_000;
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (performance.now() > deadline) throw new EngineUnavailable(messageOf(error), { cause: error });
      await Bun.sleep(RECONNECT_MS);
    }
  }
}

/** Undefined for what NATS doesn't have. */
export async function orUndefined<Result>(call: () => Promise<Result>): Promise<Result | undefined> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof JetStreamApiError && error.code === JetStreamApiCodes.StreamNotFound) return undefined;
    throw error;
  }
}

/** Requests that are on their way at once. */
const AT_ONCE = 64;

/**
 * The last message of each subject, from the server that leads. NATS' packages would make a consumer for each list, which stays for
 * minutes, and is made on any server, also on one that is up and does nothing.
 */
export async function lastOfEach(manager: JetStreamManager, stream: string, subjects: string): Promise<StoredMsg[]> {
  const { state } = await manager.streams.info(stream, { subjects_filter: subjects });
  const names = Object.keys(state.subjects ?? {});
  const found: (StoredMsg | null)[] = [];
  for (let at = 0; at < names.length; at += AT_ONCE) {
    const some = names.slice(at, at + AT_ONCE);
    found.push(...(await Promise.all(some.map((name) => manager.streams.getMessage(stream, { last_by_subj: name })))));
  }
  return found.filter((message) => message !== null);
}

/**
 * What was made while there were fewer servers gets more copies. Copies are never taken away: a server may just be down. Then NATS may
 * refuse to add any, and what is opened next adds them.
 */
export async function addReplicas(manager: JetStreamManager, stream: string, replicas: number): Promise<void> {
  const { config } = await unavailableOn(() => manager.streams.info(stream));
  if (config.num_replicas >= replicas) return;
  await manager.streams.update(stream, { ...config, num_replicas: replicas }).catch(() => undefined);
}

export const isWrongLast = (error: unknown) =>
  error instanceof JetStreamApiError && error.code === JetStreamApiCodes.StreamWrongLastSequence;

/** Turns every failure into `EngineUnavailable`. `mend` is called after one, for what NATS may have lost; nobody waits for it. */
export async function unavailableOn<Result>(call: () => Promise<Result>, mend?: () => void): Promise<Result> {
  try {
    return await call();
  } catch (error) {
    mend?.();
    throw new EngineUnavailable(messageOf(error), { cause: error });
  }
}

export const messageOf = (error: unknown) =>
  (error instanceof Error ? error.message : String(error)).replace(/\s+/g, " ");

/** Runs the work in the background, once at a time; it is tried again when it is asked for again. */
export function inBackground(work: () => Promise<unknown>): () => void {
  let _running: Promise<unknown> | undefined;
  return () => {
    _running ??= work()
      .catch(() => undefined)
      .finally(() => {
        _running = undefined;
      });
  };
}
