// Replies on their way to Discord: whole ones part by part, growing ones as a message that is edited.
import type { RouteLike } from "discord.js";
import { type Binding, ChannelError, type OutgoingMessage, type Preview } from "../../port.ts";
import type { LruCache } from "../../shared/lru-cache.ts";
import { createRateLimiter } from "../../shared/rate-limiter.ts";
import { isMessageGone, isRefusal, lacksWriteAccess, withChannelErrors } from "../errors.ts";
import { isSnowflake, parsePeer } from "../ids.ts";
import type { DiscordRateRules } from "../rate-rules.ts";
import type { Call, RestClients } from "../rest/rest-clients.ts";
import { type InteractionReply, type Interactions, notCaughtUpError } from "./interactions.ts";
import { toMessageParts } from "./message-parts.ts";

/** A link's preview is fetched by Discord: a reply that was talked into carrying data in an address would send it. */
const SUPPRESS_EMBEDS = 4;
/** Nobody is called by what a model writes; who is answered is. */
const MESSAGE_OPTIONS = { flags: SUPPRESS_EMBEDS, allowed_mentions: { parse: [], replied_user: true } };
const NONCE_LENGTH = 25;
/** Tries of a reply that wait for a command that a restart made unknown. */
const MAX_ATTEMPTS_BEFORE_CATCH_UP = 5;

export interface Delivery {
  send(
    binding: Binding,
    message: OutgoingMessage,
    onPartDelivered: (part: string) => void,
    signal: AbortSignal,
  ): Promise<void>;
  preview(binding: Binding, preview: Preview, signal: AbortSignal): Promise<string | undefined>;
  typing(binding: Binding, peer: string, signal: AbortSignal, replyTo?: string): Promise<void>;
  forget(binding: Binding): void;
}

interface Deps {
  clients: RestClients;
  interactions: Interactions;
  /** Channels known to be of two people: nothing has to be tied to what it answers there. */
  directMessageChannels: LruCache<true>;
  rules: DiscordRateRules;
}

export function createDelivery({ clients, interactions, directMessageChannels, rules }: Deps): Delivery {
  const rateLimiter = createRateLimiter();

  async function callForMessageId(binding: Binding, signal: AbortSignal, call: Call): Promise<string> {
    const message = await clients.call(binding, signal, call);
    const id = typeof message === "object" && message !== null && "id" in message ? message.id : undefined;
    if (isSnowflake(id)) return id;
    throw new ChannelError("unreachable", "Discord's answer could not be understood.", "peer");
  }

  interface PartToSend {
    binding: Binding;
    peer: string;
    text: string;
    /** The same for every try, so that Discord knows a part it has already. */
    key: string;
    replyTo?: string | undefined;
    signal: AbortSignal;
  }

  function write({ binding, peer, text, key, replyTo, signal }: PartToSend): Promise<string> {
    const isReply = isSnowflake(replyTo) && !directMessageChannels.get(peer);
    const reference = isReply ? { message_reference: { message_id: replyTo, fail_if_not_exists: false } } : {};
    const body = { content: text, nonce: nonceOf(key), enforce_nonce: true, ...MESSAGE_OPTIONS, ...reference };
    return callForMessageId(binding, signal, { method: "post", path: `/channels/${peer}/messages`, body });
  }

  /** Undefined when there is no message (any more) that could be edited. */
  async function edit({ binding, peer, text, signal }: PartToSend, id: string): Promise<string | undefined> {
    if (!isSnowflake(id)) return undefined;
    try {
      const path: RouteLike = `/channels/${peer}/messages/${id}`;
      return await callForMessageId(binding, signal, {
        method: "patch",
        path,
        body: { content: text, ...MESSAGE_OPTIONS },
      });
    } catch (error) {
      if (isMessageGone(error)) return undefined;
      throw error;
    }
  }

  /** In the place of a command; undefined when Discord takes no answer there (any more). */
  async function answerInteraction(
    part: PartToSend,
    { path }: InteractionReply,
    how: "original" | "follow-up",
  ): Promise<string | undefined> {
    const body = { content: part.text, ...MESSAGE_OPTIONS };
    const original: Call = { method: "patch", path: `${path}/messages/@original`, body, auth: false };
    const followUp: Call = { method: "post", path, body, auth: false };
    try {
      return await callForMessageId(part.binding, part.signal, how === "original" ? original : followUp);
    } catch (error) {
      if (isRefusal(error) && error.status < 500) return undefined;
      throw error;
    }
  }

  async function sendFirstPart(
    part: PartToSend,
    interaction: InteractionReply | undefined,
    preview: string | undefined,
  ): Promise<string> {
    const answered = interaction && (await answerInteraction(part, interaction, "original"));
    if (answered !== undefined) return answered;
    const edited = preview === undefined ? undefined : await edit(part, preview);
    return edited ?? (await write(part));
  }

  return {
    send: (binding, message, onPartDelivered, signal) =>
      withChannelErrors("peer", async () => {
        const peer = parsePeer(message.peer);
        const { replyTo, deliveredParts } = message;
        if (message.attempts < MAX_ATTEMPTS_BEFORE_CATCH_UP && interactions.mayStillArrive(binding, replyTo))
          throw notCaughtUpError();
        const interaction = await interactions.find(binding, peer, replyTo);
        for (const [index, text] of toMessageParts(message.text).entries()) {
          if (index < deliveredParts.length) continue;
          if (signal.aborted) throw new ChannelError("busy", "Stopped before it was sent.", "peer", 0);
          const part: PartToSend = { binding, peer, text, key: `${message.id}:${index}`, signal };
          if (index === 0) {
            onPartDelivered(await sendFirstPart({ ...part, replyTo }, interaction, message.previewMessageId));
            if (interaction) interactions.markAnswered(interaction.id);
            continue;
          }
          try {
            onPartDelivered(await write(part));
          } catch (error) {
            // A command can be given where the bot can't write: there its further parts follow the first.
            const followed =
              interaction && lacksWriteAccess(error)
                ? await answerInteraction(part, interaction, "follow-up")
                : undefined;
            if (followed === undefined) throw error;
            onPartDelivered(followed);
          }
        }
      }),

    preview: (binding, preview, signal) =>
      withChannelErrors("peer", async () => {
        const { messageId, replyTo } = preview;
        const peer = parsePeer(preview.peer);
        const text = toMessageParts(preview.text)[0];
        const key = `${binding.bot.id}:${peer}:edit`;
        if (text === undefined || rateLimiter.waitTime(key, rules.edit) > 0) return messageId;
        rateLimiter.take(key, rules.edit);
        const interaction = await interactions.find(binding, peer, replyTo);
        const part: PartToSend = { binding, peer, text, key: `${peer}:${replyTo}:${preview.draftId}`, replyTo, signal };
        const answered = interaction && (await answerInteraction(part, interaction, "original"));
        if (answered !== undefined) return answered;
        return messageId === undefined ? await write(part) : await edit(part, messageId);
      }),

    typing: (binding, address, signal, replyTo) =>
      withChannelErrors("peer", async () => {
        const peer = parsePeer(address);
        const key = `${binding.bot.id}:${peer}:typing`;
        if (rateLimiter.waitTime(key, rules.typing) > 0) return;
        // "… is thinking" is shown already.
        if (replyTo !== undefined && (await interactions.find(binding, peer, replyTo))) return;
        rateLimiter.take(key, rules.typing);
        await clients.call(binding, signal, { method: "post", path: `/channels/${peer}/typing` });
      }),

    forget: ({ bot }) => rateLimiter.forget((key) => key.startsWith(`${bot.id}:`)),
  };
}

/** Discord takes 25 characters, and gives back what was sent with the same ones in the last minutes. */
const nonceOf = (key: string) => new Bun.CryptoHasher("sha256").update(key).digest("base64url").slice(0, NONCE_LENGTH);
