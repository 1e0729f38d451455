// Recognizes mails that programs sent, which must not be answered: else two programs would write to each other for ever.
import type { Headers } from "./headers.ts";

/** How addresses of programs begin, whose mailboxes have no reader. */
const UNREAD = /^(?:mailer-daemon|postmaster|no-?reply|do-?not-?reply|bounces?)(?:[+=.-]|@)/;

/** Why a mail must not be answered; undefined for one of a person. RFC 3834 §2, and what programs do beside it. */
export function automaticReason(headers: Headers, from: string, own: string): string | undefined {
  const word = (name: string) => (headers.first(name) ?? "").trim().toLowerCase();
  if (from === own || headers.all("x-loop").some((value) => value.toLowerCase().includes(own))) return "own mail";
  const submitted = word("auto-submitted");
  if (submitted !== "" && submitted !== "no") return "sent by a program";
  if (["bulk", "junk", "list", "auto_reply"].includes(word("precedence"))) return "sent to many";
  if (headers.first("list-id") !== undefined || headers.first("list-unsubscribe") !== undefined)
    return "a mailing list";
  if (headers.first("x-autoreply") !== undefined || headers.first("x-autorespond") !== undefined)
    return "sent by a program";
  if (/^<\s*>$/.test(word("return-path")) || word("content-type").startsWith("multipart/report")) return "a bounce";
  return UNREAD.test(from) ? "from an address that nobody reads" : undefined;
}
