// What a way of delivering mail is given and what it promises, and the message as nodemailer takes it.

/** A mail ready to go. */
export interface Message {
  /** UUIDv7. */
  id: string;
  from: string;
  to: string;
  subject: string;
  text: string;
  html: string;
  messageId: string;
  date: Date;
}

/** One way of delivering mail. */
export interface MailTransport {
  /** Throws MailRefused for what can never be delivered; anything else is worth another try. */
  send(message: Message, signal: AbortSignal): Promise<void>;
  close(): void;
}

/** This mail will not be taken, however often it is tried. Its message is for the log. */
export class MailRefused extends Error {
  override readonly name = "MailRefused";
}

/** Nothing in a mail is ever read from a file or an address, and programs are told not to answer it (RFC 3834 §5). */
export const toNodemailerOptions = ({ from, to, subject, text, html, messageId, date }: Message) => ({
  from,
  to: { name: "", address: to },
  subject,
  text,
  html,
  messageId,
  date,
  headers: { "Auto-Submitted": "auto-generated" },
  disableFileAccess: true,
  disableUrlAccess: true,
});

/** No line breaks or other control characters: one value can't become two lines, or a header of its own. */
export const toSingleLine = (text: string) => text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ").trim();
