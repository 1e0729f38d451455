// Drives a real IMAP server and a real SMTP server through the interface that the contract's scenarios use.
import { type Dovecot, startDovecot, startFaultyProxy } from "../../tests/support/dovecot.ts";
import { newMailId, startReadersServer, type WrittenMail, writeMail } from "../../tests/support/mail-people.ts";
import { peerId, threadOf } from "../email/address.ts";
import { FIELDS } from "../email/credentials.ts";
import { MAX_TEXT } from "../email/delivery.ts";
import { createEmail } from "../email/index.ts";
import { writeCredentials } from "../shared/credential-text.ts";
import type { ConversationKind, PlatformFixture } from "./harness.ts";

const PASSWORD = "a password of the mailbox";
/** There are no groups: `group` is another person. */
const PEOPLE: Record<ConversationKind, string> = { private: "ada@people.example", group: "eve@people.example" };
/** All mails of a person are in one thread. */
const ROOTS: Record<ConversationKind, string> = {
  private: "<root-1@people.example>",
  group: "<root-2@people.example>",
};

/** One server for all scenarios, each with a mailbox of its own. */
let shared: Promise<Dovecot> | undefined;
let mailboxes = 0;

export async function stopEmailServer(): Promise<void> {
  const server = await shared;
  await server?.[Symbol.asyncDispose]();
}

export async function createEmailFixture(): Promise<PlatformFixture> {
  shared ??= startDovecot();
  const dovecot = await shared;
  const address = `agent-${++mailboxes}@berth.example`;
  const mailbox = dovecot.addMailbox(address, PASSWORD);
  const proxy = await startFaultyProxy(dovecot.port);
  const readers = await startReadersServer(address, PASSWORD);
  const tokenWith = (password: string) =>
    writeCredentials(FIELDS, { address, password, imap: `127.0.0.1:${proxy.port}`, smtp: `127.0.0.1:${readers.port}` });
  const resolveHost = async (host: string) => [host];
  const log = { debug: () => undefined, warn: () => undefined };
  const channel = createEmail({ log, resolveHost, perHour: 1_000_000 });
  const token = tokenWith(PASSWORD);
  const bot = await channel.identify(token, AbortSignal.timeout(10_000));

  let last = "";
  const say = (text: string, kind: ConversationKind = "private", more: Partial<WrittenMail> = {}) => {
    const id = newMailId();
    last = writeMail({ from: PEOPLE[kind], to: address, text, id, references: [ROOTS[kind]], ...more });
    mailbox.deliver(last);
    return id;
  };
  const peerOf = (kind: ConversationKind) =>
    peerId({
      address: PEOPLE[kind],
      thread: threadOf({ own: "<x@y>", references: [ROOTS[kind]], inReplyTo: undefined }, false),
    });
  /** Each mail as its text, if there is one, and its files. */
  const visible = (kind: ConversationKind = "private") =>
    readers.mails
      .filter(({ to }) => to === PEOPLE[kind])
      .flatMap(({ mail, header }) => {
        const { attachments } = mail;
        const captionOf = (name: string | null) =>
          (mail.text ?? "")
            .split("\n")
            .find((line) => name && line.startsWith(`${name}: `))
            ?.slice((name?.length ?? 0) + 2);
        const captions = attachments.map(({ filename }) => `${filename}: `);
        const text = (mail.text ?? "")
          .split("\n")
          .filter((line) => !captions.some((caption) => line.startsWith(caption)))
          .join("\n")
          .trim();
        const files = attachments.map(({ filename, mimeType, content }) => {
          const caption = captionOf(filename);
          const bytes = typeof content === "string" ? new TextEncoder().encode(content) : new Uint8Array(content);
          return {
            text: "",
            file: { as: "attachment", name: filename ?? "", type: mimeType, bytes, ...(caption && { caption }) },
          };
        });
        const replyTo = header("in-reply-to");
        return [...(text === "" ? [] : [{ text }]), ...files].map((part, index) => ({
          id: index === 0 ? (header("message-id") ?? "") : `${header("message-id")}#${index}`,
          ...part,
          ...(replyTo === undefined ? {} : { replyTo }),
        }));
      });

  return {
    channel,
    binding: { agentId: "agent", token, bot },
    strangeToken: tokenWith("another password"),
    peers: { private: peerOf("private"), group: peerOf("group") },
    limit: MAX_TEXT,
    userSays: (text, kind) => say(text, kind),
    userSendsPicture: (bytes, text) =>
      say(text, "private", { files: [{ name: "picture.jpg", type: "image/jpeg", bytes }] }),
    userReplies: (id, text) => void say(text, "private", { inReplyTo: id }),
    userSendsVoice: (bytes) => say("", "private", { files: [{ name: "memo.ogg", type: "audio/ogg", bytes }] }),
    redeliverLast: () => mailbox.deliver(last),
    // A mail that was sent can't be changed; one can be deleted from the mailbox.
    editLast: () => undefined,
    deleteLast: () => mailbox.removeNewest(),
    userSaysOutOfOrder(texts) {
      const mails = texts.map((text) => ({ id: newMailId(), text }));
      for (const { id, text } of mails.toReversed()) say(text, "private", { id });
      return mails.map(({ id }) => id);
    },
    removeBotMessage: () => {
      throw new Error("A mail that was sent stays.");
    },
    visibleMessages: visible,
    shownAs: { picture: "attachment", voice: "attachment", audio: "attachment", document: "attachment" },
    visibleChoices: (id) =>
      visible()
        .filter((one) => one.id === id)
        .flatMap(({ text }) => text.match(/^\/\w+ \w+$/gm) ?? [])
        .map((text) => ({ label: text.charAt(1).toUpperCase() + text.slice(2).split(" ", 1)[0], text })),
    userChooses: (id, { text }) =>
      void say(`${text}\n\nOn Monday, Agent <${address}> wrote:\n> May I?\n> /approve ABC\n`, "private", {
        inReplyTo: id,
      }),
    previewTexts: () => [],
    typingCount: () => 0,
    failNextSend: (fault) => readers.failNext(fault),
    failNextFiles: (fault) => readers.failNext(fault, true),
    failNextReceive: (fault) => proxy.failNext(fault),
    userBlocksBot: () => void readers.blocked.add(PEOPLE.private),
    revokeToken() {
      mailbox.changePassword("revoked");
      readers.password = "revoked";
    },
    unconfirmedCount: () => mailbox.unreadCount(),
    async [Symbol.asyncDispose]() {
      await proxy[Symbol.asyncDispose]();
      await readers[Symbol.asyncDispose]();
    },
  };
}
