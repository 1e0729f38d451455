// What people find in their mail: a real server that everything is sent to, asked by address.

import { eventually } from "./eventually.ts";
import { type Arrived, startSmtp } from "./smtp.ts";

export interface Mailbox extends AsyncDisposable {
  /** For SMTP_URL. */
  readonly url: string;
  /** Everything that came for this address so far. */
  of(email: string): Arrived[];
  /** The token of the `count`-th link to this page that came, waited for. */
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
