// Asks the mail server whether it takes a connection and the password. No mail is sent.
import type { Config } from "../../../kernel/config/config.ts";
import { connectSmtp } from "../../../kernel/mail/smtp-connection.ts";
import { becauseOf, type CheckResult } from "./check.ts";

const TIMEOUT_MS = 5_000;

export async function checkMail({ smtp }: Pick<Config, "smtp">): Promise<CheckResult> {
  if (smtp.url === undefined) {
    return {
      level: "warning",
      text: "Mail: no mail server is set, so mails become files in DATA_DIR/outbox.",
      action: "Set SMTP_URL and MAIL_FROM.",
    };
  }
  const { host } = new URL(smtp.url);
  try {
    const transport = await connectSmtp(smtp.url, { maxConnections: 1, timeoutMs: TIMEOUT_MS });
    await transport.verify().finally(() => transport.close());
    return { level: "good", text: `Mail: ${host} accepts the connection${isSignedIn(smtp.url)}. No mail was sent.` };
  } catch (error) {
    const text = `Mail: ${host} can't be used: ${becauseOf(error)}`;
    return { level: "broken", text, action: actionFor(error) };
  }
}

const isSignedIn = (url: string) => (new URL(url).username === "" ? "" : " and the password");

function actionFor(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "EAUTH")
    return "Correct the user and the password in SMTP_URL; characters such as @ and : are percent-encoded there.";
  if (code === "ETLS")
    return "Use smtps:// with port 465 or smtp:// with port 587, and a name that the server's certificate has.";
  if (code === "EDNS") return "Correct the server's name in SMTP_URL, or the name servers of this machine.";
  return "Check name and port in SMTP_URL, and whether a firewall or the hoster blocks outgoing mail.";
}
