// Sends replies to WhatsApp part by part, and does not repeat a part that an earlier try may have delivered.
import { type Binding, type ChannelAdapter, ChannelError, type Choice, type OutgoingFile } from "../port.ts";
import { isObject } from "../shared/is-object.ts";
import { sendFile } from "../shared/sent-files.ts";
import { withWrittenChoices } from "../shared/written-choices.ts";
import { type MediaMessage, mediaContent, messagesFor, uploadForm } from "./files.ts";
import type { GraphApi } from "./graph-api.ts";
import { toMessageParts } from "./message-parts.ts";
import type { PartOutcomes } from "./part-outcomes.ts";
import { addressOf, type Peer, parsePeer } from "./peer.ts";

export type Delivery = Pick<ChannelAdapter, "send">;

/**
 * Characters of a text above buttons.
 * https://developers.facebook.com/docs/whatsapp/cloud-api/messages/interactive-reply-buttons-messages
 */
const MAX_TEXT_WITH_BUTTONS = 1024;

/** Text, with the answers to offer as buttons below it. */
function contentOf(text: string, choices: readonly Choice[] = []) {
  if (choices.length === 0) {
    // WhatsApp would fetch each link to preview it: a manipulated reply could leak data in an address that way.
    return { type: "text", text: { body: text, preview_url: false } };
  }
  const buttons = choices.map(({ label, text: id }) => ({ type: "reply", reply: { id, title: label } }));
  return { type: "interactive", interactive: { type: "button", body: { text }, action: { buttons } } };
}

export function createDelivery({ graph, outcomes }: { graph: GraphApi; outcomes: PartOutcomes }): Delivery {
  /** Sends one part and returns WhatsApp's id of it. */
  async function write(
    binding: Binding,
    { number, person }: Peer,
    part: { content: object; callbackData: string; replyTo: string | undefined },
    signal: AbortSignal,
  ): Promise<string> {
    const body = {
      messaging_product: "whatsapp",
      recipient_type: "individual",
      ...addressOf(person),
      ...part.content,
      biz_opaque_callback_data: part.callbackData,
      ...(part.replyTo === undefined ? {} : { context: { message_id: part.replyTo } }),
    };
    const answer = await graph.call(binding, { method: "POST", path: `${number}/messages`, body }, "peer", signal);
    const [sent] = Array.isArray(answer.messages) ? answer.messages : [];
    if (isObject(sent) && typeof sent.id === "string") return sent.id;
    throw new ChannelError("unreachable", "WhatsApp's answer could not be read.", "peer");
  }

  /** Uploads a file for one message; returns its content. */
  async function upload(
    binding: Binding,
    { number }: Peer,
    file: OutgoingFile,
    message: MediaMessage,
    bytes: Uint8Array<ArrayBuffer>,
    signal: AbortSignal,
  ): Promise<object> {
    const request = {
      method: "POST",
      path: `${number}/media`,
      body: uploadForm(file, bytes, message.mimeType),
    } as const;
    const { id } = await graph.call(binding, request, "peer", signal);
    if (typeof id === "string") return mediaContent(file, message, id);
    throw new ChannelError("unreachable", "WhatsApp's answer could not be read.", "peer");
  }

  return {
    async send(binding, message, onPartDelivered, signal) {
      const { id, peer: address, text, replyTo, attempts, deliveredParts, choices = [] } = message;
      const peer = parsePeer(address);
      const account = binding.bot.id;
      const alreadyDelivered = deliveredParts.length;
      let mayBeDelivered = attempts > 0;
      const plain = toMessageParts(text);
      const hasRoom = plain.length === 1 && (plain[0]?.length ?? 0) <= MAX_TEXT_WITH_BUTTONS;
      const buttons = hasRoom ? choices : [];
      const texts = hasRoom || choices.length === 0 ? plain : toMessageParts(withWrittenChoices(text, choices));
      const parts: readonly (string | OutgoingFile)[] = [...texts, ...(message.files ?? [])];
      for (const [index, part] of parts.entries()) {
        if (index < alreadyDelivered) continue;
        // Others can't guess it, because it begins with a random UUID.
        const callbackData = `${id}:${index}`;
        const outcome = mayBeDelivered ? await outcomes.waitForOutcome(account, callbackData, signal) : undefined;
        if (outcome?.kind === "failed") throw new ChannelError("refused", outcome.reason, "peer");
        if (outcome?.kind === "sent") {
          onPartDelivered(outcome.id);
          continue;
        }
        if (signal.aborted) throw new ChannelError("busy", "Stopped before it was sent.", "peer", 0);
        // Parts are sent in order: if this one is missing, so are all after it.
        mayBeDelivered = false;
        const asReply = index === 0 && replyTo?.startsWith("wamid.") ? replyTo : undefined;
        try {
          const sendContent = (content: object) =>
            write(binding, peer, { content, callbackData, replyTo: asReply }, signal);
          onPartDelivered(
            typeof part === "string"
              ? await sendContent(contentOf(part, buttons))
              : await sendFile({
                  file: part,
                  ways: messagesFor(part),
                  platform: "WhatsApp",
                  send: async (way, bytes) => sendContent(await upload(binding, peer, part, way, bytes, signal)),
                  isRefused: (error) =>
                    error instanceof ChannelError && error.kind === "refused" && error.scope === "peer",
                  sendText: (words) => sendContent(contentOf(words)),
                }),
          );
        } catch (error) {
          const isUncertain = !(error instanceof ChannelError) || error.kind === "unreachable";
          outcomes.set(
            account,
            callbackData,
            isUncertain ? { kind: "uncertain", since: Date.now() } : { kind: "unsent" },
          );
          outcomes.set(account, `${id}:${index + 1}`, { kind: "unsent" });
          throw error;
        }
      }
    },
  };
}
