// Replies on their way to Discord: whole ones part by part, growing ones as a message that is edited.
import type { RouteLike } from "discord.js";
import { type Binding, ChannelError, type OutgoingMessage, type Preview } from "../channel.ts";
import { createRates } from "../shared/rates.ts";
import type { Recent } from "../shared/recent.ts";
import type { Apis, Call } from "./api.ts";
import { guarded, isGone, isRefusal, isShut } from "./errors.ts";
import { type Answer, type Interactions, notYet } from "./interactions.ts";
import { isSnowflake, parsePeer } from "./peer.ts";
import type { Rules } from "./rules.ts";
import { render } from "./split.ts";

/** A link's preview is fetched by Discord: a reply that was talked into carrying data in an address would send it. */
const SUPPRESS_EMBEDS = 4;
/** Nobody is called by what a model writes; who is answered is. */
const QUIET = { flags: SUPPRESS_EMBEDS, allowed_mentions: { parse: [], replied_user: true } };
const NONCE = 25;
/** Tries of a reply that wait for a command that a restart made unknown. */
const PATIENCE = 5;

export interface Delivery {
  send(
    binding: Binding,
    message: OutgoingMessage,
    delivered: (part: string) => void,
    signal: AbortSignal,
  ): Promise<void>;
  preview(binding: Binding, preview: Preview, signal: AbortSignal): Promise<string | undefined>;
  typing(binding: Binding, peer: string, signal: AbortSignal, replyTo?: string): Promise<void>;
  forget(binding: Binding): void;
}

interface Deps {
  apis: Apis;
  interactions: Interactions;
  /** Channels known to be of two people: nothing has to be tied to what it answers there. */
  privates: Recent<true>;
  rules: Rules;
}

export function createDelivery({ apis, interactions, privates, rules }: Deps): Delivery {
  const rates = createRates();

  async function written(binding: Binding, signal: AbortSignal, call: Call): Promise<string> {
    const message = await apis.call(binding, signal, call);
    const id = typeof message === "object" && message !== null && "id" in message ? message.id : undefined;
    if (isSnowflake(id)) return id;
    throw new ChannelError("unreachable", "Discord's answer could not be understood.", "peer");
  }

  interface Part {
    binding: Binding;
    peer: string;
    text: string;
    /** The same for every try, so that Discord knows a part it has already. */
    key: string;
    replyTo?: string | undefined;
    signal: AbortSignal;
  }

  function write({ binding, peer, text, key, replyTo, signal }: Part): Promise<string> {
    const tied = isSnowflake(replyTo) && !privates.get(peer);
    const reference = tied ? { message_reference: { message_id: replyTo, fail_if_not_exists: false } } : {};
    const body = { content: text, nonce: nonceOf(key), enforce_nonce: true, ...QUIET, ...reference };
    return written(binding, signal, { method: "post", path: `/channels/${peer}/messages`, body });
  }

  /** Undefined when there is no message (any more) that could be edited. */
  async function edit({ binding, peer, text, signal }: Part, id: string): Promise<string | undefined> {
    if (!isSnowflake(id)) return undefined;
    try {
      const path: RouteLike = `/channels/${peer}/messages/${id}`;
      return await written(binding, signal, { method: "patch", path, body: { content: text, ...QUIET } });
    } catch (error) {
      if (isGone(error)) return undefined;
      throw error;
    }
  }

  /** In the place of a command; undefined when Discord takes no answer there (any more). */
  async function answer(part: Part, { path }: Answer, how: "original" | "follow-up"): Promise<string | undefined> {
    const body = { content: part.text, ...QUIET };
    const original: Call = { method: "patch", path: `${path}/messages/@original`, body, auth: false };
    const followUp: Call = { method: "post", path, body, auth: false };
    try {
      return await written(part.binding, part.signal, how === "original" ? original : followUp);
    } catch (error) {
      if (isRefusal(error) && error.status < 500) return undefined;
      throw error;
    }
  }

  async function show(part: Part, place: Answer | undefined, preview: string | undefined): Promise<string> {
    const answered = place && (await answer(part, place, "original"));
    if (answered !== undefined) return answered;
    const edited = preview === undefined ? undefined : await edit(part, preview);
    return edited ?? (await write(part));
  }

  return {
    send: (binding, message, delivered, signal) =>
      guarded("peer", async () => {
        const peer = parsePeer(message.peer);
        const { replyTo, deliveredParts } = message;
        if (message.attempts < PATIENCE && interactions.mayCome(binding, replyTo)) throw notYet();
        const place = await interactions.find(binding, peer, replyTo);
        for (const [index, text] of render(message.text).entries()) {
          if (index < deliveredParts.length) continue;
          if (signal.aborted) throw new ChannelError("busy", "Stopped before it was sent.", "peer", 0);
          const part: Part = { binding, peer, text, key: `${message.id}:${index}`, signal };
          if (index === 0) {
            delivered(await show({ ...part, replyTo }, place, message.previewMessageId));
            if (place) interactions.answered(place.id);
            continue;
          }
          try {
            delivered(await write(part));
          } catch (error) {
            // A command can be given where the bot can't write: there its further parts follow the first.
            const followed = place && isShut(error) ? await answer(part, place, "follow-up") : undefined;
            if (followed === undefined) throw error;
            delivered(followed);
          }
        }
      }),

    preview: (binding, preview, signal) =>
      guarded("peer", async () => {
        const { messageId, replyTo } = preview;
        const peer = parsePeer(preview.peer);
        const text = render(preview.text)[0];
        const key = `${binding.bot.id}:${peer}:edit`;
        if (text === undefined || rates.wait(key, rules.edit) > 0) return messageId;
        rates.take(key, rules.edit);
        const place = await interactions.find(binding, peer, replyTo);
        const part: Part = { binding, peer, text, key: `${peer}:${replyTo}:${preview.draftId}`, replyTo, signal };
        const answered = place && (await answer(part, place, "original"));
        if (answered !== undefined) return answered;
        return messageId === undefined ? await write(part) : await edit(part, messageId);
      }),

    typing: (binding, address, signal, replyTo) =>
      guarded("peer", async () => {
        const peer = parsePeer(address);
        const key = `${binding.bot.id}:${peer}:typing`;
        if (rates.wait(key, rules.typing) > 0) return;
        // "… is thinking" is shown already.
        if (replyTo !== undefined && (await interactions.find(binding, peer, replyTo))) return;
        rates.take(key, rules.typing);
        await apis.call(binding, signal, { method: "post", path: `/channels/${peer}/typing` });
      }),

    forget: ({ bot }) => rates.forget((key) => key.startsWith(`${bot.id}:`)),
  };
}

/** Discord takes 25 characters, and gives back what was sent with the same ones in the last minutes. */
const nonceOf = (key: string) => new Bun.CryptoHasher("sha256").update(key).digest("base64url").slice(0, NONCE);
