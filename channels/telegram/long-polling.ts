// Receives updates by long polling. Each poll acknowledges the previous poll's updates, which have been stored by then,
// so a crash loses none.
import { setTimeout as sleep } from "node:timers/promises";
import type { CallbackQuery, Update } from "grammy/types";
import { type Binding, ChannelError, type Sink } from "../port.ts";
import type { BotApiClients } from "./bot-api.ts";
import { isWebhookActive } from "./errors.ts";
import { ALLOWED_UPDATES, isAnswer, readUpdate } from "./updates.ts";

/** Seconds that Telegram holds a poll open. The caller must abort a poll that is silent for much longer. */
const POLL_SECONDS = 30;

export interface PollingHooks {
  /** Called once, after the first response. */
  onConnected(): Promise<void>;
  /** Called for each pressed button, once its answer is stored. `isAnswer`: its presser may answer the question. */
  onButtonPressed(pressed: CallbackQuery, isAnswer: boolean): void;
  /** Called for a malformed update. It is skipped, because Telegram would otherwise send it again for ever. */
  onUnreadableUpdate(error: unknown): void;
}

/** Polls until `signal` aborts. Throws Telegram's refusals unconverted. */
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
      // Only at the start and only once: a webhook that appears later was set by another program, which is a conflict.
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
    for (const { callback_query: pressed } of updates) {
      if (pressed) hooks.onButtonPressed(pressed, await isAnswer(sink, pressed));
    }
    for (const update of updates) offset = Math.max(offset ?? 0, update.update_id + 1);
    if (first) await hooks.onConnected();
    // Avoids a tight loop if the server does not hold polls open.
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
