// Delivers the updates of one bot: a queue that a long poll empties, or posts to a webhook.
// https://core.telegram.org/bots/api#getting-updates

import { TelegramRefusal } from "./telegram-params.ts";

export interface Update {
  update_id: number;
  [kind: string]: unknown;
}

export interface Webhook {
  url: string;
  secret?: string;
  maxConnections: number;
}

export interface UpdatesOptions {
  /** Delay before the first retry, doubled each time up to 64 times as much. */
  webhookRetryMs: number;
  webhookTimeoutMs: number;
  /** Maps a webhook's address to the one that is really used. */
  webhookAddress: (url: string) => string;
  changed: () => void;
}

/** Update types that are sent only if `allowed_updates` names them. */
const onRequest = new Set(["chat_member", "message_reaction", "message_reaction_count"]);

export type Updates = ReturnType<typeof createUpdates>;

export function createUpdates(firstId: number, options: UpdatesOptions) {
  let nextId = firstId;
  let allowed: string[] = [];
  let held: Update[] | undefined;
  /** Updates that are not confirmed yet, in the order of delivery. */
  let queue = new Set<Update>();
  let poll: { refuse(description: string): void; look(): void; end(): void } | undefined;
  let webhook: (Webhook & { abort: AbortController }) | undefined;
  /** Posts of one conversation go out one after the other, those of different conversations in parallel. */
  let lanes = new Map<unknown, Update[]>();
  let ready: unknown[] = [];
  let inFlight = 0;
  let lastError: { date: number; message: string } | undefined;
  const history = new Map<number, Update>();
  const count = { created: 0, posted: 0, refused: 0 };
  /** When a poll was refused because there was another one, or a webhook: epoch ms. */
  const conflicts: number[] = [];

  function deliver(update: Update): void {
    if (held) {
      held.push(update);
      return;
    }
    queue.add(update);
    if (webhook) enlist(update);
  }

  function giveOut(): void {
    if (webhook) pump();
    else poll?.look();
    options.changed();
  }

  function enlist(update: Update): void {
    const lane = laneOf(update);
    const waiting = lanes.get(lane);
    if (waiting) waiting.push(update);
    else {
      lanes.set(lane, [update]);
      ready.push(lane);
    }
  }

  function pump(): void {
    while (webhook && inFlight < webhook.maxConnections && ready.length > 0) {
      const lane = ready.shift();
      const update = lanes.get(lane)?.[0];
      if (update) void post(update, lane, webhook);
    }
  }

  async function post(update: Update, lane: unknown, hook: NonNullable<typeof webhook>): Promise<void> {
    const { signal } = hook.abort;
    inFlight += 1;
    const headers: Record<string, string> = { "content-type": "application/json" };
    if (hook.secret !== undefined) headers["x-telegram-bot-api-secret-token"] = hook.secret;
    for (let attempt = 0; !signal.aborted; attempt += 1) {
      const failure = await once(hook.url, headers, JSON.stringify(update), signal);
      if (failure === undefined) break;
      if (signal.aborted) break;
      count.refused += 1;
      lastError = { date: Math.floor(Date.now() / 1000), message: failure };
      options.changed();
      await unlessAborted(options.webhookRetryMs * 2 ** Math.min(attempt, 6), signal);
    }
    if (signal.aborted) return;
    inFlight -= 1;
    count.posted += 1;
    queue.delete(update);
    const waiting = lanes.get(lane) ?? [];
    waiting.shift();
    if (waiting.length > 0) ready.push(lane);
    else lanes.delete(lane);
    options.changed();
    pump();
  }

  /** Posts once; returns undefined if the webhook accepted it, else Telegram's error message. */
  async function once(url: string, headers: Record<string, string>, body: string, signal: AbortSignal) {
    try {
      const limit = AbortSignal.any([signal, AbortSignal.timeout(options.webhookTimeoutMs)]);
      const response = await fetch(options.webhookAddress(url), {
        method: "POST",
        headers,
        body,
        signal: limit,
        redirect: "manual",
      });
      await response.arrayBuffer();
      return response.ok ? undefined : `Wrong response from the webhook: ${response.status} ${response.statusText}`;
    } catch (error) {
      return error instanceof Error && error.name === "TimeoutError" ? "Read timeout expired" : "Connection refused";
    }
  }

  function unhook(): void {
    webhook?.abort.abort();
    webhook = undefined;
    lanes = new Map();
    ready = [];
    inFlight = 0;
  }

  return {
    count,
    conflicts,
    /** Creates an update; undefined if the bot does not get updates of this kind. */
    create(kind: string, payload: unknown): Update | undefined {
      if (allowed.length > 0 ? !allowed.includes(kind) : onRequest.has(kind)) return undefined;
      const update = { update_id: nextId++, [kind]: payload };
      count.created += 1;
      history.set(update.update_id, update);
      deliver(update);
      giveOut();
      return update;
    },
    /** Delivers an update again, as Telegram does when a response is lost. */
    repeat(updateId: number): void {
      const update = history.get(updateId);
      if (!update) throw new Error(`No update ${updateId}.`);
      deliver({ ...update });
      giveOut();
    },
    hold(): void {
      held ??= [];
    },
    release(reverse = false): void {
      const waiting = held ?? [];
      held = undefined;
      for (const update of reverse ? waiting.toReversed() : waiting) deliver(update);
      giveOut();
    },
    pending: () => queue.size + (held?.length ?? 0),
    allow(kinds: string[] | undefined): void {
      allowed = kinds ?? allowed;
    },
    allowed: () => allowed,
    webhook: (): Webhook | undefined => webhook,
    lastError: () => lastError,
    drop(): void {
      queue.clear();
      lanes = new Map();
      ready = [];
    },
    hook(next: Webhook | undefined): void {
      unhook();
      if (!next) return;
      lastError = undefined;
      poll?.refuse("Conflict: terminated by setWebhook request");
      webhook = { ...next, abort: new AbortController() };
      for (const update of queue) enlist(update);
      pump();
    },
    /** Runs a `getUpdates` call. Rejects with 409 if a webhook is set, or as soon as another `getUpdates` is called. */
    poll(offset: number, limit: number, timeoutMs: number, signal: AbortSignal): Promise<Update[]> {
      if (webhook) {
        conflicts.push(Date.now());
        const text =
          "can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first";
        throw new TelegramRefusal(409, `Conflict: ${text}`);
      }
      poll?.refuse("Conflict: terminated by other getUpdates request; make sure that only one bot instance is running");
      if (offset < 0) queue = new Set([...queue].slice(offset));
      for (const update of queue) if (offset > 0 && update.update_id < offset) queue.delete(update);
      return new Promise((resolve, reject) => {
        const finish = () => {
          clearTimeout(deadline);
          if (poll === mine) poll = undefined;
          options.changed();
        };
        const mine = {
          refuse(description: string) {
            finish();
            conflicts.push(Date.now());
            reject(new TelegramRefusal(409, description));
          },
          look() {
            if (queue.size > 0) mine.end();
          },
          end() {
            finish();
            resolve([...queue].slice(0, limit));
          },
        };
        const deadline = setTimeout(mine.end, timeoutMs);
        signal.addEventListener("abort", mine.end, { once: true });
        poll = mine;
        options.changed();
        mine.look();
      });
    },
    polling: () => poll !== undefined,
    /** Ends a waiting poll. */
    interrupt: () => poll?.end(),
    stop(): void {
      unhook();
      poll?.end();
    },
  };
}

/** The key of updates that are posted in order: their chat, else their user, else one key for all others. */
function laneOf(update: Update): unknown {
  for (const value of Object.values(update)) {
    if (typeof value !== "object" || value === null) continue;
    const chat: unknown = Reflect.get(value, "chat") ?? Reflect.get(value, "from");
    if (typeof chat === "object" && chat !== null) return Reflect.get(chat, "id");
  }
  return 0;
}

async function unlessAborted(ms: number, signal: AbortSignal): Promise<void> {
  const gone = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
  await Promise.race([Bun.sleep(ms), gone]);
}
