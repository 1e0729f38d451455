// Says what an erasure leaves behind, and why; a receipt has these lines.
import type { Receipt } from "./receipt.ts";

export type Remains = Receipt["remains"];

export const SENDER_REMAINS: Remains = [
  {
    what: "what others have written about the person, and what an owner has told the agent",
    why: "it is theirs",
    until: null,
  },
  {
    what: "files that the agent has taken into its knowledge",
    why: "they have no sender; the owner deletes them",
    until: null,
  },
  { what: "reminders that were set in a group", why: "they have no author", until: "they are due" },
  { what: "messages on the platform itself", why: "only the platform can delete them", until: null },
  { what: "figures and costs, without names or texts", why: "the ledger has to add up", until: null },
  {
    what: "entries of the audit log that name an id on the platform",
    why: "it is never changed",
    until: "two years after each entry",
  },
];
export const ACCOUNT_REMAINS: Remains = [
  {
    what: "payments and sums of usage, under the id of the account",
    why: "accounting laws, and the ledger has to add up",
    until: null,
  },
  {
    what: "entries of the audit log, which name the address",
    why: "it is never changed",
    until: "two years after each entry",
  },
  { what: "sealed keys of wallets, without a name", why: "money may be on them", until: null },
];
export const PAGE_REMAINS: Remains[number] = {
  what: "remains of rows in unused parts of the database's pages, and of backups of it",
  why: "writing a large file anew makes others wait",
  until: "berth prune --compact",
};
