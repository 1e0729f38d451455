// The interface of mail transports, and the conversion of a message to nodemailer's options.

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

export interface MailTransport {
  /** Throws MailRefused for a mail that can never be delivered; any other error may be retried. */
  send(message: Message, signal: AbortSignal): Promise<void>;
  close(): void;
}

/** The mail was rejected permanently. The error's message is for the log. */
export class MailRefused extends Error {
  override readonly name = "MailRefused";
}

/** Makes nodemailer's options: it may read no files or URLs, and programs must not reply automatically (RFC 3834 §5). */
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

/** Replaces line breaks and other control characters by spaces, so that a value can't inject a header. */
export const toSingleLine = (text: string) => text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ").trim();
