// Long polling. An update is confirmed to Telegram only by the poll after the one that stored it, so a crash in between loses nothing.
import { setTimeout as sleep } from "node:timers/promises";
import type { Update } from "grammy/types";
import { type Binding, ChannelError, type Sink } from "../port.ts";
import type { BotApiClients } from "./bot-api.ts";
import { isWebhookActive } from "./errors.ts";
import { ALLOWED_UPDATES, readUpdate } from "./updates.ts";

/** Seconds that Telegram holds a poll open. Whoever listens has to end one that is silent for much longer. */
export const POLL_SECONDS = 30;

export interface PollingHooks {
  /** Runs once, after the first answer, which comes at once. */
  onConnected(): Promise<void>;
  /** An update that is not as Telegram describes it: it is passed over, since it would come again for ever. */
  onUnreadableUpdate(error: unknown): void;
}

/** Polls until `signal` aborts. Throws Telegram's refusals as they are. */
export async function poll(
  { callRaw }: Pick<BotApiClients, "callRaw">,
  binding: Binding,
  sink: Sink,
  signal: AbortSignal,
  hooks: PollingHooks,
): Promise<void> {
  let offset: number | undefined;
  let first = true;
  let webhookRemoved = false;

  while (!signal.aborted) {
    const started = performance.now();
    const timeout = first ? 0 : POLL_SECONDS;
    const request = {
      timeout,
      limit: 100,
      allowed_updates: ALLOWED_UPDATES,
      ...(offset === undefined ? {} : { offset }),
    };
    const updates = await callRaw<Update[]>(binding, "getUpdates", request, signal).catch(async (error: unknown) => {
      if (signal.aborted) return undefined;
      // Once, and at the start: a webhook that comes later was set by somebody else, and that is a conflict.
      if (!first || webhookRemoved || !isWebhookActive(error)) throw error;
      webhookRemoved = true;
      await callRaw(binding, "deleteWebhook", {}, signal);
      return undefined;
    });
    if (!updates) continue;
    sink.reportAlive();
    const messages = updates.flatMap((update) => {
      try {
        return readUpdate(update, binding.bot) ?? [];
      } catch (error) {
        hooks.onUnreadableUpdate(error);
        return [];
      }
    });
    if (messages.length > 0) await storeMessages(sink, messages);
    for (const update of updates) offset = Math.max(offset ?? 0, update.update_id + 1);
    if (first) await hooks.onConnected();
    // A server that does not hold polls open is not asked in a tight loop.
    else if (updates.length === 0 && performance.now() - started < 250) await pause(250, signal);
    first = false;
  }
}

async function storeMessages(sink: Sink, messages: Parameters<Sink["accept"]>[0]): Promise<void> {
  try {
    await sink.accept(messages);
  } catch (cause) {
    throw new ChannelError("unreachable", "The messages could not be stored; Telegram keeps them.", "bot", undefined, {
      cause,
    });
  }
}

const pause = (ms: number, signal: AbortSignal) => sleep(ms, undefined, { signal }).catch(() => undefined);
