// Converts WhatsApp's posts into the port's messages and delivery statuses. Everything else in a post is left out.
// https://developers.facebook.com/documentation/business-messaging/whatsapp/webhooks/reference/messages

import { bracketNote } from "../../src/kernel/util/text/quoted-text.ts";
import type { Attachment, IncomingMessage } from "../port.ts";
import { isObject } from "../shared/is-object.ts";
import { failureReason } from "./errors.ts";
import { peerId } from "./peer.ts";

type Fields = Record<string, unknown>;

/** The delivery status of a message that the business sent. */
export interface MessageStatus {
  /** WhatsApp's id of the message. */
  id: string;
  /** The part of a reply that it is, from the callback data; left out if Berth did not send it. */
  part?: { message: string; callbackData: string };
  number: string;
  peer: string;
  /** Why it did not arrive; left out while it is under way or delivered. */
  failure?: string;
}

export interface WebhookEvent {
  /** The numbers of the business that the post is about. */
  numbers: Set<string>;
  messages: (IncomingMessage & { number: string })[];
  statuses: MessageStatus[];
  /** Messages and statuses in the post, for the agent or not. No more than `MAX_UPDATES` are read. */
  updates: number;
}

/**
 * Updates in one post, at most.
 * https://developers.facebook.com/docs/graph-api/webhooks/getting-started#event-notifications
 */
export const MAX_UPDATES = 1_000;

const text = (value: unknown): string => (typeof value === "string" ? value : "");
const objects = (value: unknown): Fields[] => (Array.isArray(value) ? value.filter(isObject) : []);
const fieldsOf = (value: unknown): Fields => (isObject(value) ? value : {});
const isMessageId = (id: string) => /^[\x21-\x7e]{1,512}$/.test(id);

/** Parses a post; undefined if it is not about WhatsApp. Entries of other business accounts are left out. */
export function readEvent(value: unknown, waba: string, token: string): WebhookEvent | undefined {
  if (!isObject(value) || value.object !== "whatsapp_business_account" || !Array.isArray(value.entry)) return undefined;
  const event: WebhookEvent = { numbers: new Set(), messages: [], statuses: [], updates: 0 };
  for (const entry of objects(value.entry)) {
    if (entry.id !== waba) continue;
    for (const change of objects(entry.changes)) {
      const value = change.field === "messages" ? fieldsOf(change.value) : {};
      event.updates += Math.max(1, objects(value.messages).length + objects(value.statuses).length);
      if (event.updates > MAX_UPDATES) return event;
      readChange(value, token, event);
    }
  }
  // WhatsApp keeps no order; within one post it can be restored.
  event.messages.sort((a, b) => a.sentAt - b.sentAt);
  return event;
}

function readChange(value: Fields, token: string, event: WebhookEvent): void {
  const number = text(fieldsOf(value.metadata).phone_number_id);
  if (!/^\d{1,32}$/.test(number)) return;
  event.numbers.add(number);
  const contacts = objects(value.contacts).slice(0, MAX_UPDATES);
  for (const message of objects(value.messages)) {
    const read = readMessage(message, contacts, number);
    if (read) event.messages.push({ ...read, number });
  }
  for (const status of objects(value.statuses)) {
    const read = readStatus(status, number, token);
    if (read) event.statuses.push(read);
  }
}

function readMessage(message: Fields, contacts: Fields[], number: string): IncomingMessage | undefined {
  const id = text(message.id);
  const [phone, authorId] = [text(message.from), text(message.from_user_id)];
  // Messages of groups are not for the agent.
  if (!isMessageId(id) || message.group_id !== undefined) return undefined;
  const content = readContent(message);
  if (content === undefined) return undefined;
  const matches = ({ wa_id, user_id }: Fields) =>
    (phone !== "" && wa_id === phone) || (authorId !== "" && user_id === authorId);
  const contact = contacts.find(matches) ?? (contacts.length === 1 ? contacts[0] : undefined) ?? {};
  const waId = phone || text(contact.wa_id);
  const userId = authorId || text(contact.user_id);
  const sender = userId || waId;
  if (!/^[A-Za-z0-9.]{1,140}$/.test(sender)) return undefined;
  const seconds = Number(message.timestamp);
  const context = fieldsOf(message.context);
  const isForwarded = context.forwarded === true || context.frequently_forwarded === true;
  // The names of contacts and places are in the text, and somebody else has written them.
  const hasForeignNames = message.type === "contacts" || message.type === "location";
  return {
    platformMessageId: id,
    peer: peerId(number, waId || userId),
    sender: {
      id: sender,
      name: text(fieldsOf(contact.profile).name),
      ...(userId !== "" && waId !== "" ? { alternateId: waId } : {}),
    },
    ...content,
    ...(isMessageId(text(context.id)) ? { repliesTo: text(context.id) } : {}),
    ...(isForwarded || hasForeignNames ? { quotesOthers: true } : {}),
    group: false,
    addressed: true,
    sentAt: seconds > 0 && seconds < 1e11 ? seconds * 1000 : Date.now(),
  };
}

type Content = Pick<IncomingMessage, "text" | "attachments">;

/** Undefined for messages that need no answer: reactions, edits, deletions, notices. */
function readContent(message: Fields): Content | undefined {
  const type = text(message.type);
  const own = fieldsOf(message[type]);
  const note = (words: string, detail?: string): Content => ({ text: bracketNote(words, detail) });
  switch (type) {
    case "text":
      return { text: text(own.body) };
    case "button":
      return { text: text(own.text) || text(own.payload) };
    case "interactive":
      return readInteractive(own);
    case "image":
      return withFile("photo", "image", own);
    case "sticker":
      return own.animated === true ? note("sticker") : withFile("sticker", "image", own, { optional: true });
    case "video":
      return withFile("video", "video", own);
    case "audio":
      return own.voice === true
        ? withFile("voice message", "audio", own, { voice: true })
        : withFile("audio", "audio", own);
    case "document":
      return withFile("document", "document", own);
    case "location": {
      const name = [text(own.name), text(own.address)].filter(Boolean).join(", ");
      return note("location", `${Number(own.latitude)}, ${Number(own.longitude)}${name && ` (${name})`}`);
    }
    case "contacts":
      return note("contact", objects(message.contacts).map(readContact).join("; "));
    case "order":
      return note("order");
    case "reaction":
    case "edit":
    case "revoke":
    case "system":
    case "request_welcome":
      return undefined;
    default:
      return note("a kind of message that WhatsApp does not pass on");
  }
}

function readInteractive(own: Fields): Content {
  const list = fieldsOf(own.list_reply);
  const button = fieldsOf(own.button_reply);
  // Berth's own buttons have the answer as their id.
  const chosen = (text(button.id).startsWith("/") && text(button.id)) || text(button.title) || text(list.title);
  const described = text(list.description);
  if (chosen === "") return { text: text(fieldsOf(own.nfm_reply).body) || "[a form that was filled in]" };
  return { text: described === "" ? chosen : `${chosen}\n${described}` };
}

function withFile(
  mark: string,
  kind: Attachment["kind"],
  file: Fields,
  more: Pick<Attachment, "optional" | "voice"> = {},
): Content {
  const [id, name, caption] = [text(file.id), text(file.filename), text(file.caption)];
  const named = bracketNote(mark, name);
  const words = caption === "" ? named : `${named}\n${caption}`;
  if (!/^\d{1,64}$/.test(id)) return { text: words };
  const mimeType = text(file.mime_type) || "application/octet-stream";
  return { text: words, attachments: [{ kind, ref: id, mimeType, ...(name === "" ? {} : { name }), ...more }] };
}

function readContact(contact: Fields): string {
  const phones = objects(contact.phones).map(({ phone, wa_id }) => text(phone) || text(wa_id));
  return [text(fieldsOf(contact.name).formatted_name), ...phones].filter(Boolean).join(" ");
}

function readStatus(status: Fields, number: string, token: string): MessageStatus | undefined {
  const [id, state] = [text(status.id), text(status.status)];
  if (id === "" || !["sent", "delivered", "read", "played", "failed"].includes(state)) return undefined;
  const [error = {}] = objects(status.errors);
  const message = text(fieldsOf(error.error_data).details) || text(error.title) || text(error.message);
  const callbackData = text(status.biz_opaque_callback_data);
  const [, outgoing] = /^([\w-]{1,64}):\d{1,4}$/.exec(callbackData) ?? [];
  return {
    id,
    number,
    ...(outgoing === undefined ? {} : { part: { message: outgoing, callbackData } }),
    peer: peerId(number, text(status.recipient_id) || text(status.recipient_user_id)),
    ...(state === "failed" ? { failure: failureReason(Number(error.code) || -1, message, token) } : {}),
  };
}
