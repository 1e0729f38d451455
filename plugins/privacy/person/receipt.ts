// The receipt of an erasure: what was deleted, when, by whom, and what remains; signed, so that it can be checked later.
import { AppError } from "../../../src/kernel/errors.ts";
import type { ErasureList } from "./erasure-list.ts";

export interface Receipt {
  format: "berth.erasure-receipt/1";
  id: string;
  person: {
    /** The channel, or `account`. */
    channel: string;
    /** An HMAC: the receipt names nobody. */
    hash: string;
  };
  /** The only agent from which the person was erased; left out: from all. */
  agent?: string;
  by: { kind: string; name: string };
  startedAt: string;
  endedAt: string;
  /** Rows and files, by kind. */
  deleted: Record<string, number>;
  remains: { what: string; why: string; until: string | null }[];
  signature: string;
}

/** The fields in one order, whatever the order in a file. */
const signedText = ({
  format,
  id,
  person,
  agent,
  by,
  startedAt,
  endedAt,
  deleted,
  remains,
}: Omit<Receipt, "signature">) =>
  JSON.stringify([
    ...[format, id, person.channel, person.hash, by.kind, by.name, startedAt, endedAt],
    Object.entries(deleted).toSorted(([a], [b]) => (a < b ? -1 : 1)),
    remains.map(({ what, why, until }) => [what, why, until]),
    ...(agent === undefined ? [] : [agent]),
  ]);

export const signReceipt = (list: Pick<ErasureList, "sign">, receipt: Omit<Receipt, "signature">): Receipt => ({
  ...receipt,
  signature: list.sign(signedText(receipt)),
});

/** All fields of a receipt, and of its parts: a document with another one is not as it was made. */
const FIELDS = ["format", "id", "person", "by", "startedAt", "endedAt", "deleted", "remains", "signature"];

const hasOnly = (value: object, fields: readonly string[]) =>
  Object.keys(value).length === fields.length && fields.every((field) => Object.hasOwn(value, field));

const isWhole = (receipt: Receipt) =>
  hasOnly(receipt, receipt.agent === undefined ? FIELDS : [...FIELDS, "agent"]) &&
  hasOnly(receipt.person, ["channel", "hash"]) &&
  hasOnly(receipt.by, ["kind", "name"]) &&
  receipt.remains.every((one) => hasOnly(one, ["what", "why", "until"])) &&
  ["string", "undefined"].includes(typeof receipt.agent) &&
  typeof receipt.signature === "string";

/** Without white space, and with each text written in one way. It differs from the parsed one where a field occurs twice. */
const compact = (text: string) =>
  text.replace(/"(?:[^"\\]|\\.)*"|\s+/g, (part) => (part.startsWith('"') ? JSON.stringify(JSON.parse(part)) : ""));

/**
 * Whether this service made a receipt, and it is as it was; for a file with a list of them, each. Throws 400 `UNREADABLE_RECEIPT` for
 * what is none.
 */
export function areGenuine(list: Pick<ErasureList, "verify">, text: string): boolean[] {
  try {
    const parsed = JSON.parse(text) as Receipt | Receipt[];
    const receipts = Array.isArray(parsed) ? parsed : [parsed];
    if (receipts.length === 0 || receipts.some(({ format }) => format !== "berth.erasure-receipt/1"))
      throw new TypeError("It has another format.");
    const isCovered = compact(text) === JSON.stringify(parsed);
    return receipts.map(
      (receipt) => isCovered && isWhole(receipt) && list.verify(signedText(receipt), receipt.signature),
    );
  } catch (cause) {
    const says = "This is no receipt of an erasure. Give the file as it was written.";
    throw new AppError(400, "UNREADABLE_RECEIPT", says, {}, { cause });
  }
}
