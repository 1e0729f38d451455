// Sends replies to Discord part by part, and shows growing ones as a message that is edited.
import type { RouteLike } from "discord.js";
import type { BoundedMap } from "../../../src/kernel/util/bounded-map.ts";
import { type Binding, type ChannelAdapter, ChannelError, type Choice, type OutgoingFile } from "../../port.ts";
import { createRateLimiter } from "../../shared/rate-limiter.ts";
import { sendFile } from "../../shared/sent-files.ts";
import { isFileRefusal, isMessageGone, isRefusal, lacksWriteAccess, withChannelErrors } from "../errors.ts";
import { isSnowflake, parsePeer } from "../ids.ts";
import type { DiscordRateRules } from "../rate-rules.ts";
import type { Call, RestClients } from "../rest/rest-clients.ts";
import { buttonFields } from "./buttons.ts";
import { captionOf, describeFile, type FileToSend, flagsOf, toRawFile, type Way, waysFor } from "./files.ts";
import { type InteractionReply, type Interactions, notCaughtUpError } from "./interactions.ts";
import { toMessageParts } from "./message-parts.ts";

/** Discord would fetch each link to preview it: a manipulated reply could leak data in an address that way. */
const SUPPRESS_EMBEDS = 4;
/** A reply notifies only the author of the answered message, whatever mentions a model writes. */
const MESSAGE_OPTIONS = { flags: SUPPRESS_EMBEDS, allowed_mentions: { parse: [], replied_user: true } };
const NONCE_LENGTH = 25;
/** Tries that wait for the event of the answered slash command, which a restart has forgotten. */
const MAX_ATTEMPTS_BEFORE_CATCH_UP = 5;

export type Delivery = Required<Pick<ChannelAdapter, "send" | "preview" | "typing" | "forget">>;

interface Deps {
  clients: RestClients;
  interactions: Interactions;
  /** Channels known to be direct messages, where replies need no reference. */
  directMessageChannels: BoundedMap<true>;
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
    /** The same for every try, so that Discord recognises a part that it has already. */
    key: string;
    replyTo?: string | undefined;
    /** The answers that it offers. */
    choices?: readonly Choice[] | undefined;
    /** With its bytes, instead of buttons. */
    file?: FileToSend | undefined;
    signal: AbortSignal;
  }

  const contentOf = ({ text, file, choices = [] }: PartToSend) => ({
    content: text,
    ...MESSAGE_OPTIONS,
    ...(file
      ? { attachments: [describeFile(file)], flags: MESSAGE_OPTIONS.flags | flagsOf(file) }
      : buttonFields(choices)),
  });
  const filesOf = ({ file }: PartToSend) => (file ? { files: [toRawFile(file)] } : {});

  function write(part: PartToSend): Promise<string> {
    const { binding, peer, key, replyTo, signal } = part;
    const isReply = isSnowflake(replyTo) && !directMessageChannels.get(peer);
    const reference = isReply ? { message_reference: { message_id: replyTo, fail_if_not_exists: false } } : {};
    const body = { ...contentOf(part), nonce: nonceOf(key), enforce_nonce: true, ...reference };
    return callForMessageId(binding, signal, {
      ...{ method: "post", path: `/channels/${peer}/messages`, body },
      ...filesOf(part),
    });
  }

  /** Edits a message; undefined if it does not exist or is not the bot's. */
  async function edit(part: PartToSend, id: string): Promise<string | undefined> {
    if (!isSnowflake(id)) return undefined;
    const { binding, peer, signal } = part;
    try {
      const path: RouteLike = `/channels/${peer}/messages/${id}`;
      return await callForMessageId(binding, signal, { method: "patch", path, body: contentOf(part) });
    } catch (error) {
      if (isMessageGone(error)) return undefined;
      throw error;
    }
  }

  /** Answers a slash command; undefined if Discord no longer accepts an answer. */
  async function answerInteraction(
    part: PartToSend,
    { path }: InteractionReply,
    how: "original" | "follow-up",
  ): Promise<string | undefined> {
    const body = contentOf(part);
    const call = { body, ...filesOf(part), auth: false };
    const original: Call = { method: "patch", path: `${path}/messages/@original`, ...call };
    const followUp: Call = { method: "post", path, ...call };
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
    const answerId = interaction && (await answerInteraction(part, interaction, "original"));
    if (answerId !== undefined) return answerId;
    const edited = preview === undefined ? undefined : await edit(part, preview);
    return edited ?? (await write(part));
  }

  async function sendNextPart(part: PartToSend, interaction: InteractionReply | undefined): Promise<string> {
    try {
      return await write(part);
    } catch (error) {
      // People can use commands where the bot can't write: there the other parts follow the first at the command.
      const followUpId =
        interaction && lacksWriteAccess(error) ? await answerInteraction(part, interaction, "follow-up") : undefined;
      if (followUpId === undefined) throw error;
      return followUpId;
    }
  }

  const sendFilePart = (
    file: OutgoingFile,
    ways: readonly Way[] | string,
    sendPart: (content: Pick<PartToSend, "text" | "file">) => Promise<string>,
  ): Promise<string> =>
    sendFile({
      file,
      ways,
      platform: "Discord",
      send: (way, bytes) => sendPart({ text: captionOf(file, way), file: { ...file, bytes, way } }),
      isRefused: isFileRefusal,
      sendText: (text) => sendPart({ text }),
    });

  return {
    send: (binding, message, onPartDelivered, signal) =>
      withChannelErrors("peer", async () => {
        const peer = parsePeer(message.peer);
        const { replyTo, deliveredParts } = message;
        if (message.attempts < MAX_ATTEMPTS_BEFORE_CATCH_UP && interactions.mayStillArrive(binding, replyTo))
          throw notCaughtUpError();
        const interaction = await interactions.find(binding, peer, replyTo);
        const texts = toMessageParts(message.text);
        const parts: readonly (string | OutgoingFile)[] = [...texts, ...(message.files ?? [])];
        for (const [index, part] of parts.entries()) {
          if (index < deliveredParts.length) continue;
          if (signal.aborted) throw new ChannelError("busy", "Stopped before it was sent.", "peer", 0);
          const common = { binding, peer, key: `${message.id}:${index}`, signal };
          const sendPart = (content: Pick<PartToSend, "text" | "choices" | "file">) =>
            index === 0
              ? sendFirstPart({ ...common, ...content, replyTo }, interaction, message.previewMessageId)
              : sendNextPart({ ...common, ...content }, interaction);
          const choices = index === texts.length - 1 ? message.choices : undefined;
          if (typeof part === "string") onPartDelivered(await sendPart({ text: part, choices }));
          else {
            // The answer to a command is an edit, and no message becomes a voice message by one.
            const ways = interaction && index === 0 ? waysFor({ ...part, kind: "audio" }) : waysFor(part);
            onPartDelivered(await sendFilePart(part, ways, sendPart));
          }
          if (index === 0 && interaction) interactions.markAnswered(interaction.id);
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
        const answerId = interaction && (await answerInteraction(part, interaction, "original"));
        if (answerId !== undefined) return answerId;
        return messageId === undefined ? await write(part) : await edit(part, messageId);
      }),

    typing: (binding, address, signal, replyTo) =>
      withChannelErrors("peer", async () => {
        const peer = parsePeer(address);
        const key = `${binding.bot.id}:${peer}:typing`;
        if (rateLimiter.waitTime(key, rules.typing) > 0) return;
        // The command already shows "… is thinking".
        if (replyTo !== undefined && (await interactions.find(binding, peer, replyTo))) return;
        rateLimiter.take(key, rules.typing);
        await clients.call(binding, signal, { method: "post", path: `/channels/${peer}/typing` });
      }),

    forget: ({ bot }) => rateLimiter.forget((key) => key.startsWith(`${bot.id}:`)),
  };
}

/** Discord's nonces have up to 25 characters; a send with a nonce of the last minutes returns the earlier message. */
const nonceOf = (key: string) => new Bun.CryptoHasher("sha256").update(key).digest("base64url").slice(0, NONCE_LENGTH);
