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
  by: { kind: string; name: string };
  startedAt: string;
  endedAt: string;
  /** Rows and files, by kind. */
  deleted: Record<string, number>;
  remains: { what: string; why: string; until: string | null }[];
  signature: string;
}

/** The fields in one order, whatever the order in a file. */
const signedText = ({ format, id, person, by, startedAt, endedAt, deleted, remains }: Omit<Receipt, "signature">) =>
  JSON.stringify([
    ...[format, id, person.channel, person.hash, by.kind, by.name, startedAt, endedAt],
    Object.entries(deleted).toSorted(([a], [b]) => (a < b ? -1 : 1)),
    remains.map(({ what, why, until }) => [what, why, until]),
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
  hasOnly(receipt, FIELDS) &&
  hasOnly(receipt.person, ["channel", "hash"]) &&
  hasOnly(receipt.by, ["kind", "name"]) &&
  receipt.remains.every((one) => hasOnly(one, ["what", "why", "until"])) &&
  typeof receipt.signature === "string";

/** Without white space, and with each text written in one way. It differs from the parsed one where a field occurs twice. */
const compact = (text: string) =>
  text.replace(/"(?:[^"\\]|\\.)*"|\s+/g, (part) => (part.startsWith('"') ? JSON.stringify(JSON.parse(part)) : ""));

/** Throws 400 `UNREADABLE_RECEIPT` for what is none. */
export function isGenuine(list: Pick<ErasureList, "verify">, text: string): boolean {
  try {
    const receipt = JSON.parse(text) as Receipt;
    if (receipt.format !== "berth.erasure-receipt/1") throw new TypeError("It has another format.");
    const covers = isWhole(receipt) && compact(text) === JSON.stringify(receipt);
    return covers && list.verify(signedText(receipt), receipt.signature);
  } catch (cause) {
    const says = "This is no receipt of an erasure. Give the file as it was written.";
    throw new AppError(400, "UNREADABLE_RECEIPT", says, {}, { cause });
  }
}
