// Sends one mail over the mailbox's SMTP server, and names what went wrong in words for its owner.
import { MINUTE, SECOND } from "../../src/kernel/util/time.ts";
import type { ResolveHost } from "../definition.ts";
import { ChannelError } from "../port.ts";
import type { Mailbox } from "./credentials.ts";
import { checkServer, unreachable } from "./mail-server.ts";

export interface OutgoingMail {
  to: string;
  /** The name that readers see as the sender; empty for none. */
  fromName: string;
  subject: string;
  text: string;
  messageId: string;
  /** Message-IDs that the mail answers, the nearest last. */
  references: readonly string[];
  attachments: readonly { filename: string; contentType: string; content: Uint8Array }[];
}

const RETRY_AFTER_MS = MINUTE;

async function createTransport(mailbox: Mailbox, resolveHost: ResolveHost, signal: AbortSignal) {
  const { smtp, user, password } = mailbox;
  const { address, serverName, isLocal } = await checkServer(smtp, resolveHost, signal, "smtp");
  const { createTransport } = await import("nodemailer");
  return createTransport({
    host: address,
    port: smtp.port,
    secure: smtp.hasTls,
    requireTLS: !smtp.hasTls && !isLocal,
    tls: { servername: serverName, rejectUnauthorized: !isLocal },
    auth: { user, pass: password },
    connectionTimeout: 15 * SECOND,
    greetingTimeout: 15 * SECOND,
    socketTimeout: MINUTE,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
}

/** Resolves when the server has taken the mail; throws `ChannelError`. */
export async function sendMail(
  mailbox: Mailbox,
  mail: OutgoingMail,
  resolveHost: ResolveHost,
  signal: AbortSignal,
): Promise<void> {
  const transport = await createTransport(mailbox, resolveHost, signal);
  const { to, fromName, subject, text, messageId, references, attachments } = mail;
  const nearest = references.at(-1);
  await settled(transport, signal, () =>
    transport.sendMail({
      from: { name: fromName, address: mailbox.address },
      to,
      subject,
      text,
      messageId,
      ...(nearest !== undefined && { inReplyTo: nearest, references: [...references] }),
      // RFC 3834 §3.1.7: programs that see it do not answer by themselves.
      headers: { "Auto-Submitted": "auto-replied", "X-Auto-Response-Suppress": "All", "X-Loop": mailbox.address },
      attachments: attachments.map(({ filename, contentType, content }) => ({
        filename,
        contentType,
        content: Buffer.from(content),
      })),
    }),
  );
}

/** Logs in and out again; throws `ChannelError`. */
export async function checkSmtp(mailbox: Mailbox, resolveHost: ResolveHost, signal: AbortSignal) {
  const transport = await createTransport(mailbox, resolveHost, signal);
  await settled(transport, signal, () => transport.verify());
}

/** Waits for the operation until the signal aborts, and closes the transport in any case. */
async function settled(transport: { close(): void }, signal: AbortSignal, run: () => Promise<unknown>): Promise<void> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = () => reject(new ChannelError("unreachable", "The SMTP server did not answer in time.", "peer"));
  if (signal.aborted) abort();
  signal.addEventListener("abort", abort, { once: true });
  try {
    await Promise.race([run(), aborted]);
  } catch (error) {
    throw smtpError(error);
  } finally {
    signal.removeEventListener("abort", abort);
    transport.close();
  }
}

/** The message of a refusal of the mail itself, after its recipients were taken. */
export const MAIL_REFUSED = "The SMTP server refuses this mail.";

function smtpError(error: unknown): ChannelError {
  if (error instanceof ChannelError) return error;
  const { code, responseCode, command }: { code?: unknown; responseCode?: unknown; command?: unknown } =
    typeof error === "object" && error !== null ? error : {};
  const reply = typeof responseCode === "number" ? responseCode : 0;
  if (code === "EAUTH" && reply >= 500) {
    const text = "The SMTP server refuses this user name or password. Some want a password made for programs.";
    return new ChannelError("refused", text, "bot", undefined, { field: "password" });
  }
  if (reply >= 400 && reply < 500) {
    return new ChannelError("busy", "The SMTP server asks to try again later.", "peer", RETRY_AFTER_MS);
  }
  // The server refuses this machine, or to talk at all: no mail was asked about yet.
  const isAboutMail = command === "MAIL FROM" || command === "RCPT TO" || command === "DATA";
  if (reply >= 500 && isAboutMail) {
    const isRecipient = command === "RCPT TO";
    return new ChannelError("refused", isRecipient ? "The SMTP server refuses this recipient." : MAIL_REFUSED, "peer");
  }
  return new ChannelError("unreachable", unreachable("SMTP", error), "peer", undefined, { field: "smtp" });
}
