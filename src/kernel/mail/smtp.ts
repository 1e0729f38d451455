// Mail over SMTP: a few connections that are kept, and what of a server's refusals is final.
import { isLoopbackHost } from "../config/config.ts";
import type { Log } from "../telemetry/log.ts";
import { MailRefused, type MailTransport, toNodemailerOptions } from "./message.ts";

/** To the mail server at the same time. As many mails are on their way at most, so none waits for a connection. */
export const MAX_CONNECTIONS = 4;
/** For each step that the server is waited for. */
const STEP_TIMEOUT_MS = 20_000;

/**
 * `url`: `smtp://` (STARTTLS where the server offers it) or `smtps://`, with user and password; options of nodemailer
 * may follow as a query, such as `?tls.rejectUnauthorized=false`. A password goes over an unencrypted connection only to
 * this machine, unless the address says `?requireTLS=false`.
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
          log.warn("The mail server takes no mail. Mails wait, and are tried again.", { why: failure.message });
        }
        throw error;
      }
      if (isDown) log.info("The mail server takes mail again.");
      isDown = false;
    },
    close() {
      isClosed = true;
      // What can't be loaded can't be closed; whoever sends is told why.
      transport?.then(
        (pool) => pool.close(),
        () => undefined,
      );
    },
  };
}

/** Loaded at the first mail: most processes never send one. */
async function connect(url: string) {
  const { createTransport } = await import("nodemailer");
  const { password, hostname } = new URL(url);
  return createTransport({
    url,
    pool: true,
    maxConnections: MAX_CONNECTIONS,
    connectionTimeout: STEP_TIMEOUT_MS,
    greetingTimeout: STEP_TIMEOUT_MS,
    socketTimeout: STEP_TIMEOUT_MS,
    dnsTimeout: STEP_TIMEOUT_MS,
    requireTLS: password !== "" && !isLoopbackHost(hostname),
  });
}

/** What nodemailer adds to its errors. */
interface SmtpFailure extends Error {
  code?: string;
  /** The command that failed. */
  command?: string;
  /** The server's reply, RFC 5321 §4.2. */
  responseCode?: number;
}

/**
 * The server says that it will never take this mail, or this recipient. Refusals of the sender, the password or the
 * connection concern every mail: the operator can mend them, so mails wait.
 */
function isPermanentFailure({ code, command, responseCode = 0 }: SmtpFailure): boolean {
  const aboutThisMail = command === "RCPT TO" || code === "EMESSAGE";
  return aboutThisMail && responseCode >= 500 && responseCode < 600;
}
