// Mail over SMTP: a few connections that are kept, and what of a server's refusals is final.
import { isLoopbackHost } from "../config.ts";
import type { Log } from "../log.ts";
import { MailRefused, type Post, toOptions } from "./message.ts";

/** To the mail server at the same time. As many mails are on their way at most, so none waits for a connection. */
export const CONNECTIONS = 4;
/** For each step that the server is waited for. */
const PATIENCE_MS = 20_000;

/**
 * `url`: `smtp://` (STARTTLS where the server offers it) or `smtps://`, with user and password; options of nodemailer
 * may follow as a query, such as `?tls.rejectUnauthorized=false`. A password goes over an unencrypted connection only to
 * this machine, unless the address says `?requireTLS=false`.
 */
export function createSmtp({ url, log }: { url: string; log: Log }): Post {
  let transport: ReturnType<typeof connect> | undefined;
  let closed = false;
  let down = false;

  return {
    async send(message, signal) {
      if (closed) throw new Error("Mail is closed.");
      transport ??= connect(url);
      try {
        await (await transport).sendMail({ ...toOptions(message), signal });
      } catch (error) {
        const failure = error as SmtpFailure;
        if (isFinal(failure)) throw new MailRefused(failure.message, { cause: error });
        if (!down && !signal.aborted) {
          down = true;
          log.warn("The mail server takes no mail. Mails wait, and are tried again.", { why: failure.message });
        }
        throw error;
      }
      if (down) log.info("The mail server takes mail again.");
      down = false;
    },
    close() {
      closed = true;
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
    maxConnections: CONNECTIONS,
    connectionTimeout: PATIENCE_MS,
    greetingTimeout: PATIENCE_MS,
    socketTimeout: PATIENCE_MS,
    dnsTimeout: PATIENCE_MS,
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
function isFinal({ code, command, responseCode = 0 }: SmtpFailure): boolean {
  const aboutThisMail = command === "RCPT TO" || code === "EMESSAGE";
  return aboutThisMail && responseCode >= 500 && responseCode < 600;
}
