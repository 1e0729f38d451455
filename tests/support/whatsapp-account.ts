// The state of one business account of the WhatsApp fake: its numbers, its users, and its messages.

import type { SentFile } from "./sent-file.ts";
import { bad, GraphRefusal, isSendable, type TextMessage, titleOf } from "./whatsapp-graph.ts";
import { type Callback, type Change, createHooks, type HooksOptions } from "./whatsapp-hooks.ts";
import type { FakeAccount, Says, SentMessage } from "./whatsapp-types.ts";

const DEFAULT_USER = "15550001111";

export interface AccountOptions extends HooksOptions {
  waba: string;
  numbers: { id: string; display: string }[];
  secretOf: (app: string) => string;
  statuses: () => boolean;
  rates: () => boolean;
}

interface Media {
  bytes: Uint8Array;
  mime: string;
  /** Of a file that the business has uploaded. */
  name?: string;
}

export type AccountState = ReturnType<typeof createAccount>;

let serial = 0;
function newId(): string {
  serial += 1;
  const name = `HBgL${serial.toString().padStart(10, "0")}${crypto.randomUUID().slice(0, 8)}`;
  return `wamid.${Buffer.from(name).toString("base64")}`;
}
const seconds = () => Math.floor(Date.now() / 1000);

export function createAccount(options: AccountOptions) {
  const { waba, numbers, secretOf } = options;
  /** The subscribed apps, each with its own callback address or undefined for the app's default. */
  const subscriptions = new Map<string, string | undefined>();
  const verifyTokens = new Map<string, string>();
  const media = new Map<string, Media>();
  const history = new Map<string, { lane: string; change: Change }>();
  /** Whether a user can get messages, by user. */
  const people = new Map<string, "open" | "blocked" | "closed" | "closed later">();
  /** Messages of users; false after they were deleted. */
  const known = new Map<string, boolean>();
  const sent: SentMessage[] = [];
  const typing: { number: string; messageId: string; at: number }[] = [];
  const laterFailures: number[] = [];
  const sentAt = new Map<string, number[]>();
  const count = { tooMany: 0 };

  function callback(): Callback | undefined {
    for (const [app, url] of subscriptions) if (url !== undefined) return { url, secret: secretOf(app) };
    return undefined;
  }
  const hooks = createHooks(waba, callback, options);

  function numberOf(id: string | undefined) {
    const number = id === undefined ? numbers[0] : numbers.find((one) => one.id === id);
    if (!number) throw new Error(`No number ${id}.`);
    return number;
  }

  function changeOf(number: { id: string; display: string }, value: Record<string, unknown>): Change {
    const metadata = { display_phone_number: number.display, phone_number_id: number.id };
    return { value: { messaging_product: "whatsapp", metadata, ...value }, field: "messages" };
  }

  function incoming(fields: Record<string, unknown>, says: Says = {}): string {
    const { from = DEFAULT_USER, name = "Ada", userId, hidden = false } = says;
    const number = numberOf(says.number);
    const id = newId();
    const ids = { ...(hidden ? {} : { wa_id: from }), ...(userId === undefined ? {} : { user_id: userId }) };
    const sender = { ...(hidden ? {} : { from }), ...(userId === undefined ? {} : { from_user_id: userId }) };
    const message = { ...sender, id, timestamp: String(says.at ?? seconds()), ...fields };
    const change = changeOf(number, { contacts: [{ profile: { name }, ...ids }], messages: [message] });
    for (const one of [from, userId]) if (one !== undefined) people.set(one, "open");
    known.set(id, true);
    const lane = `${number.id} ${userId ?? from}`;
    history.set(id, { lane, change });
    hooks.deliver({ lane, changes: [change], isMessage: true });
    return id;
  }

  /** Delivers a message about an earlier one of the same user (an edit or a deletion). */
  function about(id: string, fields: Record<string, unknown>): void {
    const earlier = history.get(id);
    if (!earlier) throw new Error(`No message ${id}.`);
    const { value } = earlier.change;
    const [message] = value.messages as Record<string, unknown>[];
    const { from, from_user_id } = message ?? {};
    const whose = { ...(from ? { from } : {}), ...(from_user_id ? { from_user_id } : {}) };
    const next = { ...whose, id: newId(), timestamp: String(seconds()), ...fields };
    const change: Change = { value: { ...value, messages: [next] }, field: "messages" };
    hooks.deliver({ lane: earlier.lane, changes: [change], isMessage: true });
  }

  function report(message: SentMessage, status: string, code?: number): void {
    const whose = /^\d/.test(message.to) ? { recipient_id: message.to } : { recipient_user_id: message.to };
    const error = { code, title: titleOf(code ?? 0), message: titleOf(code ?? 0), error_data: { details: "…" } };
    const entry = {
      id: message.id,
      status,
      timestamp: String(seconds()),
      ...whose,
      ...(message.callbackData === undefined ? {} : { biz_opaque_callback_data: message.callbackData }),
      ...(code === undefined ? {} : { errors: [error] }),
    };
    const change = changeOf(numberOf(message.number), { statuses: [entry] });
    hooks.deliver({ lane: `status ${message.id}`, changes: [change], isMessage: false });
  }

  /** Throws above 80 messages a second for a number, or, for a pair, above 45 at once and then one in 6 s. */
  function checkRates(number: string, to: string): void {
    if (!options.rates()) return;
    const now = Date.now();
    const recent = (key: string, ms: number) => {
      const kept = (sentAt.get(key) ?? []).filter((at) => now - at < ms);
      sentAt.set(key, kept);
      return kept;
    };
    const [all, pair] = [recent(number, 1000), recent(`${number} ${to}`, 270_000)];
    if (all.length >= 80) count.tooMany += 1;
    if (all.length >= 80) throw new GraphRefusal(130429, "Message failed to send because the limit was reached.");
    if (pair.length >= 45) count.tooMany += 1;
    if (pair.length >= 45) throw new GraphRefusal(131056, "Too many messages to the same person.");
    all.push(now);
    pair.push(now);
  }

  /** The uploaded file that a message names. */
  function fileOf({ as, id, name, caption, isVoice }: NonNullable<TextMessage["media"]>): SentFile {
    const stored = media.get(id);
    if (stored?.name === undefined) throw bad("Param id is not the id of an uploaded file.");
    if (!isSendable(as, stored.mime)) throw new GraphRefusal(131053, `Unsupported ${as} mime type ${stored.mime}.`);
    if (isVoice && stored.mime !== "audio/ogg") throw new GraphRefusal(131053, "Voice messages are Ogg with Opus.");
    const shown = { as: isVoice ? "voice" : as, name: name ?? stored.name, type: stored.mime, bytes: stored.bytes };
    return { ...shown, ...(caption === undefined ? {} : { caption }) };
  }

  return {
    waba,
    numbers,
    subscriptions,
    verifyTokens,
    media,
    hooks,
    sent,
    typing,
    count,

    /** Sends a message of the business (`POST /{number}/messages`). */
    post(number: string, message: TextMessage): SentMessage {
      const access = people.get(message.to);
      if (access === undefined || access === "closed") {
        throw new GraphRefusal(131047, "More than 24 hours have passed since the recipient last replied.");
      }
      if (access === "blocked") throw new GraphRefusal(131026, "Message undeliverable.");
      checkRates(number, message.to);
      const { replyTo, media: wanted, ...rest } = message;
      const file = wanted && fileOf(wanted);
      // A reply to a deleted message shows no quote.
      const tied = replyTo !== undefined && known.get(replyTo) ? { replyTo } : {};
      const entry: SentMessage = {
        id: newId(),
        number,
        ...rest,
        ...(file && { file }),
        ...tied,
        at: Date.now(),
        delivered: false,
      };
      const failure = access === "closed later" ? 131047 : laterFailures.shift();
      if (failure === undefined) sent.push(entry);
      if (failure !== undefined) report(entry, "failed", failure);
      else if (options.statuses()) for (const status of ["sent", "delivered"]) report(entry, status);
      options.changed();
      return entry;
    },

    /** Marks a user's message as read and, if asked, shows typing. */
    read(number: string, messageId: string, shows: boolean): void {
      if (!known.has(messageId)) throw bad("Message id is invalid.");
      if (shows) typing.push({ number, messageId, at: Date.now() });
      options.changed();
    },

    as: (token: string): FakeAccount => ({
      token,
      waba,
      says: (text, says) => incoming({ type: "text", text: { body: text } }, says),
      sendsFile(kind, bytes, { mime = "application/octet-stream", caption, filename, voice, ...says } = {}) {
        const id = `${Date.now()}${media.size}`;
        media.set(id, { bytes, mime });
        const file = {
          id,
          mime_type: mime,
          sha256: new Bun.CryptoHasher("sha256").update(bytes).digest("base64"),
          ...(caption === undefined ? {} : { caption }),
          ...(filename === undefined ? {} : { filename }),
          ...(voice === undefined ? {} : { voice }),
        };
        return incoming({ type: kind, [kind]: file }, says);
      },
      pushes: incoming,
      edits: (id, body) =>
        about(id, { type: "edit", edit: { original_message_id: id, message: { type: "text", text: { body } } } }),
      deletes(id) {
        about(id, { type: "revoke", revoke: { original_message_id: id } });
        known.set(id, false);
      },
      repeats(id) {
        const post = history.get(id);
        if (!post) throw new Error(`No message ${id}.`);
        hooks.deliver({ lane: post.lane, changes: [post.change], isMessage: true });
      },
      batch: hooks.batch,
      hold: hooks.hold,
      release: (reverse = false) => hooks.release(reverse),
      reports(id, status, code) {
        const message = sent.find((one) => one.id === id);
        if (!message) throw new Error(`No message ${id}.`);
        report(message, status, code);
      },
      failsLater: (code) => void laterFailures.push(code),
      blocks: (user = DEFAULT_USER) => void people.set(user, "blocked"),
      closesWindow: (user = DEFAULT_USER, when = "now") =>
        void people.set(user, when === "now" ? "closed" : "closed later"),
      sent: (user) => sent.filter(({ to }) => user === undefined || to === user),
      typing: () => [...typing],
      pending: hooks.pending,
      get subscriptions() {
        return [...subscriptions].map(([app, callback]) => ({ app, callback }));
      },
      verifyTokenOf: (app) => verifyTokens.get(app),
    }),
  };
}
