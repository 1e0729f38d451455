// Encodes what is written to a cell's log: groups of batches with their arguments, and the entry by which a node owns the cell.
import type { InValue } from "@libsql/client";
import type { Statement } from "../../kernel/database/database.ts";
import { guard } from "../../kernel/database/database.ts";
import { toBoundValue } from "../../kernel/database/values.ts";

/** Batches that are written one after the other, each atomically. */
export interface WriteEntry {
  kind: "write";
  batches: Statement[][];
  /** One batch that takes long: it is committed without blocking the event loop. */
  isLong: boolean;
  /** Rows that the entry before it has changed on its writer's copy: another number means that two copies differ. */
  changedBefore: number;
}

/** From here on only this node appends. */
export interface OwnEntry {
  kind: "own";
  node: string;
}

/** All copies are compared at this place. */
export interface CheckEntry {
  kind: "check";
  id: string;
}

export type Entry = WriteEntry | OwnEntry | CheckEntry;

/** A guard, by its name; any other statement, by its place among the entry's texts, with its arguments. */
type EncodedStatement = [name: string] | [text: number, ...args: EncodedValue[]];
/** JSON has neither bytes nor large integers. */
type EncodedValue = null | number | string | { bytes: string } | { integer: string };
type EncodedEntry =
  | { own: string }
  | { check: string }
  | { texts: string[]; batches: EncodedStatement[][]; changed: number; long?: true };

/** Repeated texts of SQL shrink to a fifth; shorter entries are not worth the time. */
const COMPRESSED_FROM = 1_024;
const PLAIN = 0;
const ZSTD = 1;

/** Throws what binding the arguments would throw. */
export function encodeEntry(entry: Entry): Uint8Array<ArrayBuffer> {
  const json = Buffer.from(JSON.stringify(toJson(entry)));
  const isLarge = json.length >= COMPRESSED_FROM;
  const body = isLarge ? Bun.zstdCompressSync(json, { level: 1 }) : json;
  const encoded = new Uint8Array(body.length + 1);
  encoded[0] = isLarge ? ZSTD : PLAIN;
  encoded.set(body, 1);
  return encoded;
}

/** Throws for bytes that this version has not written: those of a newer one, or damaged ones. */
export function decodeEntry(encoded: Uint8Array): Entry {
  const [format] = encoded;
  const body = encoded.subarray(1);
  if (format !== PLAIN && format !== ZSTD) throw new Error(`An entry of the log has the unknown format ${format}.`);
  const json = format === ZSTD ? Bun.zstdDecompressSync(body) : body;
  const entry = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(json)) as EncodedEntry;
  if ("own" in entry) return { kind: "own", node: entry.own };
  if ("check" in entry) return { kind: "check", id: entry.check };
  const { texts, batches, changed, long = false } = entry;
  const toStatement = ([text, ...args]: EncodedStatement): Statement =>
    typeof text === "string" ? guard(text) : { sql: texts[text] ?? "", args: args.map(decodeValue) };
  return {
    kind: "write",
    batches: batches.map((batch) => batch.map(toStatement)),
    isLong: long,
    changedBefore: changed,
  };
}

function toJson(entry: Entry): EncodedEntry {
  if (entry.kind === "own") return { own: entry.node };
  return entry.kind === "check" ? { check: entry.id } : encodeWrite(entry);
}

function encodeWrite({ batches, isLong, changedBefore }: WriteEntry): EncodedEntry {
  const places = new Map<string, number>();
  const placeOf = (sql: string) => {
    const known = places.get(sql);
    if (known !== undefined) return known;
    places.set(sql, places.size);
    return places.size - 1;
  };
  const encoded = batches.map((batch) =>
    batch.map(
      ({ sql, args, guard: name }): EncodedStatement =>
        name === undefined ? [placeOf(sql), ...args.map(encodeValue)] : [name],
    ),
  );
  return {
    texts: [...places.keys()],
    batches: encoded,
    changed: changedBefore,
    ...(isLong && { long: true as const }),
  };
}

function encodeValue(value: InValue): EncodedValue {
  const bound = toBoundValue(value);
  if (typeof bound === "bigint") return { integer: String(bound) };
  if (bound instanceof Uint8Array) return { bytes: bound.toBase64() };
  // JSON writes it as 0, and a REAL column tells them apart.
  return Object.is(bound, -0) ? { integer: "-0" } : bound;
}

function decodeValue(value: EncodedValue): InValue {
  if (typeof value !== "object" || value === null) return value;
  if ("bytes" in value) return Uint8Array.fromBase64(value.bytes);
  return value.integer === "-0" ? -0 : BigInt(value.integer);
}
