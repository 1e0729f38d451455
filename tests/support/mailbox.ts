// Receives Berth's mails with a real SMTP server and finds them by recipient.

import { eventually } from "./eventually.ts";
import { type ReceivedMail, startSmtp } from "./smtp.ts";

export interface Mailbox extends AsyncDisposable {
  /** The value of SMTP_URL. */
  readonly url: string;
  /** The mails to this address so far. */
  of(email: string): ReceivedMail[];
  /** Waits for the `count`-th mail with a link to this page and returns the link's token. */
  token(email: string, page: "verify-email" | "reset-password", count?: number): Promise<string>;
}

export async function openMailbox(): Promise<Mailbox> {
  const smtp = await startSmtp();
  const of = (email: string) => smtp.mails.filter(({ to }) => to.includes(email));
  return {
    url: smtp.url,
    of,
    token: (email, page, count = 1) =>
      eventually(
        () => {
          const tokens = of(email).flatMap(({ parsed }) => {
            const { pathname = "", searchParams } =
              URL.parse(/https?:\/\/\S+/.exec(parsed.text ?? "")?.[0] ?? "") ?? {};
            return pathname === `/${page}` ? [searchParams?.get("token") ?? ""] : [];
          });
          return tokens[count - 1];
        },
        { what: `mail ${count} with a link to ${page} for ${email}` },
      ),
    [Symbol.asyncDispose]: () => smtp.stop(),
  };
}
