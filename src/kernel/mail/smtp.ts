// Sends mail over SMTP with a pool of connections, and tells permanent rejections from temporary ones.
import type { Log } from "../telemetry/log.ts";
import { SECOND } from "../util/time.ts";
import { MailRefused, type MailTransport, toNodemailerOptions } from "./message.ts";

/** The size of the connection pool. At most as many mails are sent at a time, so that none waits for a connection. */
export const MAX_CONNECTIONS = 4;
/** The timeout of each step of the protocol. */
const STEP_TIMEOUT_MS = 20 * SECOND;
/** Loads nodemailer with the first mail, since most processes never send one. */
const connect = async (url: string) =>
  (await import("./smtp-connection.ts")).connectSmtp(url, {
    maxConnections: MAX_CONNECTIONS,
    timeoutMs: STEP_TIMEOUT_MS,
  });

/**
 * Makes a transport for a URL: `smtp://` (STARTTLS if the server offers it) or `smtps://`, with user and password.
 * nodemailer's options may follow as a query, such as `?tls.rejectUnauthorized=false`. A password is sent unencrypted only
 * to this machine, unless the URL has `?requireTLS=false`.
 */
export function createSmtp({ url, log }: { url: string; log: Log }): MailTransport {
  let transport: ReturnType<typeof connect> | undefined;
  let isClosed = false;
  let isDown = false;

  return {
    async send(message, signal) {
      if (isClosed) throw new Error("Mail is closed.");
      transport ??= connect(url);
      try {
        await (await transport).sendMail({ ...toNodemailerOptions(message), signal });
      } catch (error) {
        const failure = error as SmtpFailure;
        if (isPermanentFailure(failure)) throw new MailRefused(failure.message, { cause: error });
        if (!isDown && !signal.aborted) {
          isDown = true;
          log.warn("the mail server accepts no mail; mails wait and are retried", { why: failure.message });
        }
        throw error;
      }
      if (isDown) log.info("the mail server accepts mail again");
      isDown = false;
    },
    close() {
      isClosed = true;
      // If nodemailer could not be loaded, the sender has got the error.
      transport?.then(
        (pool) => pool.close(),
        () => undefined,
      );
    },
  };
}

/** The fields that nodemailer adds to its errors. */
interface SmtpFailure extends Error {
  code?: string;
  /** The command that failed. */
  command?: string;
  /** The server's reply, RFC 5321 §4.2. */
  responseCode?: number;
}

/**
 * Whether the server rejects this mail or its recipient permanently. A rejected sender, password or connection concerns
 * every mail, and the operator can correct it, so mails wait.
 */
function isPermanentFailure({ code, command, responseCode = 0 }: SmtpFailure): boolean {
  const aboutThisMail = command === "RCPT TO" || code === "EMESSAGE";
  return aboutThisMail && responseCode >= 500 && responseCode < 600;
}
