// Turns a mail as it was sent (RFC 5322) into a message, or says why it is none for the agent.
import type { Email, Attachment as MailPart } from "postal-mime";
import { bracketNote } from "../../../src/kernel/util/text/quoted-text.ts";
import type { Attachment, IncomingMessage } from "../../port.ts";
import { isMailAddress, peerId, senderId, threadOf } from "../address.ts";
import { isProvenSender } from "./authentication.ts";
import { automaticReason } from "./automatic.ts";
import type { Headers } from "./headers.ts";
import { findWrittenText } from "./reply-text.ts";

/** A mail for the agent, or the reason why it is left out. */
export type ReadMail = { message: IncomingMessage; subject: string } | { leftOut: string; from?: string };

/** Where a mail lies, and whose mailbox it is. */
export interface MailPlace {
  /** Of the agent, in lower case. */
  own: string;
  trustedServer: string | undefined;
  /** Names the mail in the references of its files. */
  ref: string;
  /** Epoch ms, by the mailbox's server. */
  arrivedAt: number;
}

const MAX_ATTACHMENTS = 20;
const MESSAGE_ID = /<[^\s<>]{1,500}>/g;

export async function parseMail(source: Uint8Array): Promise<Email> {
  const { default: PostalMime } = await import("postal-mime");
  return await PostalMime.parse(source, { maxNestingDepth: 50 });
}

export async function readMail(source: Uint8Array, place: MailPlace): Promise<ReadMail> {
  const mail = await parseMail(source);
  const headers = headersOf(mail);
  const from = (mail.from?.address ?? "").trim().toLowerCase();
  if (!isMailAddress(from)) return { leftOut: "no sender" };
  const automatic = automaticReason(headers, from, place.own);
  if (automatic !== undefined) return { leftOut: automatic, from };

  const subject = (mail.subject ?? "").replace(/\s+/g, " ").trim().slice(0, 500);
  const inReplyTo = idsIn(mail.inReplyTo)[0];
  const references = idsIn(mail.references).slice(0, 100);
  const own = idsIn(mail.messageId)[0] ?? `<${Bun.hash(source).toString(36)}.${source.length}@unnamed.invalid>`;
  const isProven = isProvenSender(headers, from, place.trustedServer);
  const thread = threadOf({ own, references, inReplyTo }, isProven);
  const written = await findWrittenText(mail.text ?? "", mail.html ?? "", subject);
  const files = filesOf(mail, place.ref, written.text);
  const hasForeignMail = mail.attachments.some(({ mimeType }) => mimeType === "message/rfc822");
  const isAnswer = inReplyTo !== undefined || references.length > 0;
  const words = isAnswer ? written.text : withSubject(subject, written.text);
  return {
    subject,
    message: {
      platformMessageId: own,
      peer: peerId({ address: from, thread }),
      sender: {
        id: senderId(from, isProven),
        name: (mail.from?.name ?? "").slice(0, 200),
        ...(!isProven && { isUnproven: true as const }),
      },
      ...languageOf(headers),
      text: [...files.map(({ note }) => note), words].filter(Boolean).join("\n"),
      ...(files.length > 0 && { attachments: files.map(({ file }) => file) }),
      ...(inReplyTo !== undefined && { repliesTo: inReplyTo }),
      ...((written.quotesOthers || hasForeignMail) && { quotesOthers: true as const }),
      group: false,
      addressed: true,
      sentAt: place.arrivedAt,
    },
  };
}

function headersOf({ headers }: Email): Headers {
  const all = (name: string) => headers.filter(({ key }) => key === name).map(({ value }) => value);
  return { all, first: (name) => all(name)[0] };
}

const idsIn = (text: string | undefined): string[] => (text ?? "").match(MESSAGE_ID) ?? [];

/** The subject of a new conversation belongs to what is said; a command or a code stands alone. */
const withSubject = (subject: string, text: string) =>
  subject === "" || text.startsWith("/") || (text !== "" && !/\s/.test(text))
    ? text || subject
    : `${subject}\n\n${text}`.trim();

function languageOf(headers: Headers): { language?: string } {
  const [language] = (headers.first("content-language") ?? headers.first("accept-language") ?? "").split(/[,;]/);
  return language && /^[a-z]{2,3}(?:-[a-z0-9]{2,8})*$/i.test(language.trim())
    ? { language: language.trim().toLowerCase() }
    : {};
}

function filesOf(mail: Email, ref: string, text: string): { file: Attachment; note: string }[] {
  // Pictures that a HTML mail shows in its text are mostly signatures.
  const parts = mail.attachments.map((part, index) => ({ part, index })).filter(({ part }) => !part.related);
  return parts.slice(0, MAX_ATTACHMENTS).map(({ part, index }) => {
    const kind = kindOf(part.mimeType);
    // A recording without a word beside it is what the person says.
    const isVoice = kind === "audio" && text === "" && parts.length === 1;
    const name = part.filename
      ?.replace(/[\p{Cc}/\\]+/gu, " ")
      .trim()
      .slice(0, 200);
    const file: Attachment = {
      kind,
      ref: `${ref}.${index}`,
      mimeType: part.mimeType,
      size: sizeOf(part),
      ...(name && { name }),
      ...(isVoice && { voice: true as const }),
    };
    return { file, note: bracketNote(isVoice ? "voice message" : kind === "image" ? "photo" : kind, name) };
  });
}

const sizeOf = ({ content }: MailPart): number =>
  typeof content === "string" ? Buffer.byteLength(content) : content.byteLength;

function kindOf(mimeType: string): Attachment["kind"] {
  const [type] = mimeType.split("/");
  return type === "image" || type === "audio" || type === "video" ? type : "document";
}
