// Shows replies while they grow. One clock for all of them, so that a quick reply costs an entry in a map and nothing else.
import { ChannelError, type ChannelId } from "../../channels/channel.ts";
import type { Kernel, ServiceOf } from "../../src/plugin.ts";
import type { InboxEntry, Observer, Preview, runtime as runtimePlugin } from "../runtime/index.ts";
import type { Adapters } from "./adapters.ts";
import type { Line, Lines } from "./lines.ts";
import { platformIdOf } from "./message-id.ts";

/** Milliseconds before anything is shown: a quick reply does not flash. */
const PATIENCE = 500;
const TICK = 250;
/** A platform shows "typing" for about 5 s. */
const TYPING_EVERY = 4_500;
/** A turn that shows no sign of life for so long is not shown as typing any more. */
const SILENCE = 120_000;
/** Characters per millisecond of rest: a very long reply is laid out again less often. */
const LAYOUT_RATE = 20;
const AFTER_TROUBLE = 3_000;
const END_WITHIN = 2_000;

interface Growing {
  readonly entry: InboxEntry;
  readonly channel: ChannelId;
  readonly peer: string;
  text: string;
  shown: string;
  messageId: string | undefined;
  line: Line | undefined;
  /** The call on its way: one at a time, the latest text wins. */
  inFlight: { done: Promise<void>; abort: AbortController } | undefined;
  showFrom: number;
  typeFrom: number;
  lastSign: number;
  refused: boolean;
}

interface Deps extends Pick<Kernel, "log"> {
  adapters: Adapters;
  lines: Lines;
  runtime: Pick<ServiceOf<typeof runtimePlugin>, "previewed">;
}

/** `of(entry)` watches the turn of an entry; `end` gives the message that can become the reply. */
export function createPreviews({ adapters, lines, runtime, log }: Deps) {
  /** By conversation, in which there is one turn at a time: what a failed turn left behind ends with the next one. */
  const growing = new Map<string, Growing>();
  let clock: Timer | undefined;

  const keyOf = ({ agentId, platform, peer }: InboxEntry) => `${agentId} ${platform} ${peer}`;

  function tick(): void {
    if (growing.size === 0) {
      clearInterval(clock);
      clock = undefined;
    }
    const now = Date.now();
    for (const [key, one] of growing) {
      if (now - one.lastSign > SILENCE) growing.delete(key);
      else if (!one.inFlight && !one.refused) begin(one, now);
    }
  }

  /** Makes the call that is due, if one is. */
  function begin(one: Growing, now: number): void {
    const grew = one.text !== one.shown && one.text.trim() !== "";
    if (now < (grew ? one.showFrom : one.typeFrom) || (!grew && one.shown !== "")) return;
    if (!grew) one.typeFrom = now + TYPING_EVERY;
    const abort = new AbortController();
    const done = call(one, grew ? preview : typing, abort.signal).finally(() => {
      one.inFlight = undefined;
    });
    one.inFlight = { done, abort };
  }

  /** Never rejects. */
  async function call(one: Growing, verb: typeof preview, signal: AbortSignal): Promise<void> {
    const { entry } = one;
    try {
      one.line ??= await lines.of(entry.agentId, one.channel);
      if (one.line && !signal.aborted) await verb(one, one.line, signal);
    } catch (error) {
      if (!(error instanceof ChannelError)) log.error("a preview failed", { agentId: entry.agentId, error });
      else log.debug("a preview was not shown", { agentId: entry.agentId, reason: error.message });
      one.refused = !(error instanceof ChannelError) || error.kind === "refused";
      const rest = (error instanceof ChannelError && error.retryAfter) || AFTER_TROUBLE;
      one.showFrom = one.typeFrom = Date.now() + rest;
    }
  }

  const typing = ({ peer, entry }: Growing, { channel, binding }: Line, signal: AbortSignal) =>
    channel.typing(binding, peer, signal, platformIdOf(binding.bot, entry.platformMessageId));

  async function preview(one: Growing, { channel, binding }: Line, signal: AbortSignal): Promise<void> {
    const { entry, peer, text, messageId } = one;
    const replyTo = platformIdOf(binding.bot, entry.platformMessageId);
    const shown = {
      draftId: draftIdOf(entry),
      peer,
      group: entry.isGroup,
      text,
      ...(messageId === undefined ? {} : { messageId }),
      ...(replyTo === undefined ? {} : { replyTo }),
    };
    const id = await channel.preview?.(binding, shown, signal);
    one.shown = text;
    one.showFrom = Date.now() + text.length / LAYOUT_RATE;
    if (id === messageId) return;
    one.messageId = id;
    // Kept, so that after a kill the reply takes its place instead of standing below it.
    if (id !== undefined) await runtime.previewed(entry, id);
  }

  async function end(one: Growing): Promise<string | undefined> {
    if (growing.get(keyOf(one.entry)) === one) growing.delete(keyOf(one.entry));
    if (one.inFlight) {
      const { done, abort } = one.inFlight;
      const late = setTimeout(() => abort.abort(), END_WITHIN);
      await done;
      clearTimeout(late);
    }
    return one.messageId;
  }

  return {
    of(channel: ChannelId, entry: InboxEntry): Preview {
      const now = Date.now();
      const left = growing.get(keyOf(entry));
      const one: Growing = {
        entry,
        channel,
        peer: entry.peer ?? "",
        text: "",
        shown: "",
        // A try before this one may have shown something already.
        messageId: entry.previewId ?? (left?.entry.id === entry.id ? left.messageId : undefined),
        line: undefined,
        inFlight: undefined,
        showFrom: now + PATIENCE,
        typeFrom: now + PATIENCE,
        lastSign: now,
        refused: false,
      };
      growing.set(keyOf(entry), one);
      clock ??= setInterval(tick, TICK).unref();
      const ending = { end: () => end(one) };
      if (!adapters[channel].channel.preview) return ending;
      const observer: Observer = {
        delta(text) {
          one.text += text;
          one.lastSign = Date.now();
        },
        tool() {
          one.lastSign = Date.now();
        },
      };
      return { ...ending, observer };
    },
  };
}

/** Non-zero, within 31 bits, and the same for every try of one reply. */
const draftIdOf = ({ id }: InboxEntry) => (Bun.hash.crc32(id) >>> 1) | 1;
