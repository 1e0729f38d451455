// Sends replies as mails: a text with the files that follow it is one mail, in the thread of the mail that it answers.
import { type Binding, ChannelError, type OutgoingFile, type OutgoingMessage } from "../port.ts";
import { GONE, notice, notTaken, tooLarge } from "../shared/sent-files.ts";
import { withWrittenChoices } from "../shared/written-choices.ts";
import { outgoingId, parsePeer } from "./address.ts";
import { readMailbox } from "./credentials.ts";
import { MAIL_REFUSED, type OutgoingMail } from "./smtp.ts";

const PLATFORM = "Email";
/** Characters of one mail; longer replies are several. */
export const MAX_TEXT = 100_000;
/** Bytes of all files of one mail. Servers take 25 MB and more, and base64 makes a third more of it. */
const MAX_FILES_BYTES = 15_000_000;

type Part = string | OutgoingFile;

interface Deps {
  /** Sends one mail; throws `ChannelError`. */
  sendMail(binding: Binding, mail: OutgoingMail, signal: AbortSignal): Promise<void>;
  /** The subject of a mail in the mailbox; empty if it is not known. */
  findSubject(binding: Binding, messageId: string): Promise<string>;
}

export function createDelivery({ sendMail, findSubject }: Deps) {
  return async function send(
    binding: Binding,
    message: OutgoingMessage,
    onPartDelivered: (part: string) => void,
    signal: AbortSignal,
  ): Promise<void> {
    const { id, peer, text, replyTo, choices = [], files = [], deliveredParts } = message;
    const { address, thread } = parsePeer(peer);
    const { address: own } = readMailbox(binding.token);
    const parts: Part[] = [...splitMail(withWrittenChoices(text, choices)), ...files.map(withoutTooLarge)];
    const references = replyTo?.startsWith("<") ? [replyTo] : [];
    const subject = answerSubject(replyTo === undefined ? "" : await findSubject(binding, replyTo), binding);
    /** Each file in a mail of its own, after a server has refused several together. */
    let isAlone = false;
    let next = deliveredParts.length;
    while (next < parts.length) {
      const first = parts[next];
      const words = typeof first === "string" ? first : undefined;
      const attached = filesFrom(parts, words === undefined ? next : next + 1, isAlone ? 1 : Number.POSITIVE_INFINITY);
      const begin = next;
      const inMail = isAlone && words !== undefined ? [] : attached;
      if (signal.aborted) throw new ChannelError("busy", "Stopped before it was sent.", "peer", 0);
      await withBytesOfAll(inMail, async (bytes) => {
        const gone = bytes.indexOf(undefined);
        if (gone >= 0) return replaceByNotice(parts, inMail[gone], GONE);
        const mail: OutgoingMail = {
          to: address,
          fromName: binding.bot.name ?? "",
          subject,
          text: [words, ...inMail.flatMap(({ name, caption }) => (caption ? `${name}: ${caption}` : []))]
            .filter((line) => line !== undefined)
            .join("\n\n"),
          messageId: outgoingId(thread, id, begin, own),
          references,
          attachments: inMail.flatMap(({ name, mimeType }, index) => {
            const content = bytes[index];
            return content ? [{ filename: name, contentType: mimeType, content }] : [];
          }),
        };
        try {
          await sendMail(binding, mail, signal);
        } catch (error) {
          const isMailRefused =
            error instanceof ChannelError && error.kind === "refused" && error.message === MAIL_REFUSED;
          if (!isMailRefused || inMail.length === 0) throw error;
          if (inMail.length === 1 && words === undefined) return replaceByNotice(parts, inMail[0], notTaken(PLATFORM));
          isAlone = true;
          return undefined;
        }
        const count = (words === undefined ? 0 : 1) + inMail.length;
        for (let part = 0; part < count; part++)
          onPartDelivered(part === 0 ? mail.messageId : `${mail.messageId}#${part}`);
        next += count;
        return undefined;
      });
    }
  };
}

/** Cuts a very long text at lines. */
function splitMail(text: string): string[] {
  const parts: string[] = [];
  let rest = text.trim();
  while (rest.length > MAX_TEXT) {
    const line = rest.lastIndexOf("\n", MAX_TEXT);
    const space = rest.lastIndexOf(" ", MAX_TEXT);
    const cut = line > MAX_TEXT / 2 ? line : space > MAX_TEXT / 2 ? space : MAX_TEXT;
    parts.push(rest.slice(0, cut).trimEnd());
    rest = rest.slice(cut).trimStart();
  }
  return rest === "" ? parts : [...parts, rest];
}

const withoutTooLarge = (file: OutgoingFile): Part =>
  file.size > MAX_FILES_BYTES ? notice(file, tooLarge(PLATFORM, MAX_FILES_BYTES)) : file;

/** The files from this part on that go into one mail. */
function filesFrom(parts: readonly Part[], from: number, most: number): OutgoingFile[] {
  const files: OutgoingFile[] = [];
  let bytes = 0;
  for (const part of parts.slice(from)) {
    if (typeof part === "string" || files.length >= most) break;
    bytes += part.size;
    if (files.length > 0 && bytes > MAX_FILES_BYTES) break;
    files.push(part);
  }
  return files;
}

/** Puts a text in place of a file that can't be sent; the mail is made again then. */
function replaceByNotice(parts: Part[], file: OutgoingFile | undefined, reason: string): void {
  if (file) parts.splice(parts.indexOf(file), 1, notice(file, reason));
}

/** Calls `use` with the bytes of all files, undefined for those that were deleted. */
async function withBytesOfAll(
  files: readonly OutgoingFile[],
  use: (bytes: readonly (Uint8Array<ArrayBuffer> | undefined)[]) => Promise<void>,
  read: readonly (Uint8Array<ArrayBuffer> | undefined)[] = [],
): Promise<void> {
  const [file, ...rest] = files;
  if (!file) return use(read);
  return file.withBytes((bytes) => withBytesOfAll(rest, use, [...read, bytes]));
}

/** The subject of the mail that is answered, marked once as the answer (RFC 5322 §3.6.5). */
function answerSubject(subject: string, { bot }: Binding): string {
  if (subject === "") return bot.name ?? bot.username;
  return /^(?:re|aw|sv|vs)\s*:/i.test(subject) ? subject : `Re: ${subject}`;
}
