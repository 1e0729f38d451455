// Reads what the operator's own mail server found out about a sender (Authentication-Results, RFC 8601).
import type { Headers } from "./headers.ts";

const domainOf = (address: string) => address.slice(address.lastIndexOf("@") + 1);
const isWithin = (domain: string, other: string) => domain === other || domain.endsWith(`.${other}`);

/**
 * Whether the trusted server vouches for the address in `From`: DMARC passed, or a DKIM signature of the same domain did. Only
 * the topmost header with the server's name counts: a server puts its own above those that came with the mail. SPF alone
 * proves nothing about `From`.
 */
export function isProvenSender(headers: Headers, from: string, trustedServer: string | undefined): boolean {
  if (trustedServer === undefined || headers.all("from").length !== 1) return false;
  const found = headers
    .all("authentication-results")
    .map((value) =>
      withoutComments(value)
        .split(";")
        .map((part) => part.trim()),
    )
    .find(([server = ""]) => server.split(/\s/, 1)[0]?.toLowerCase() === trustedServer);
  if (!found) return false;
  const domain = domainOf(from);
  return found.slice(1).some((result) => {
    const text = result.toLowerCase();
    const property = (name: string) => new RegExp(`(?:^|\\s)${name}\\s*=\\s*"?([^\\s"]+)`).exec(text)?.[1];
    if (/^dmarc\s*=\s*pass(?:\s|$)/.test(text)) {
      const checked = property("header\\.from");
      return checked === undefined || domainOf(checked) === domain;
    }
    if (!/^dkim\s*=\s*pass(?:\s|$)/.test(text)) return false;
    const signer = property("header\\.d") ?? domainOf(property("header\\.i") ?? "");
    return signer.includes(".") && isWithin(domain, signer);
  });
}

/** Comments may hold anything, such as `dmarc=pass` of a stranger's name (RFC 8601 §2.2). Nested ones are taken out from inside. */
function withoutComments(text: string): string {
  let rest = text.slice(0, 4_096);
  for (let depth = 0; depth < 8 && rest.includes("("); depth++) rest = rest.replace(/\([^()]*\)/g, " ");
  return rest;
}
