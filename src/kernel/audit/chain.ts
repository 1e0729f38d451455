// Seals the audit log: each entry's hash is an HMAC over the hash before it, so a change or a gap shows, and only the holder of
// the root key can make one. Sealing follows the commit, in the order of the entries' numbers.
import type { Row } from "@libsql/client";
import { type Database, guard, type Statement } from "../database/database.ts";
import type { Vault } from "../security/vault.ts";
import { randomToken } from "../util/tokens.ts";
import { SEAL_CONTEXT } from "./schema.ts";

/** The key of the chain's HMACs: random, and sealed under the root key, so that a rotation of that key changes no hash. */
export type ChainKey = string;

/** Where the chain begins and ends, as the database holds it. */
export interface ChainState {
  begunAt: number;
  /** The number and the hash of the last entry that was pruned; 0 and empty if none was. */
  anchor: Head;
  head: Head;
}

/** An entry's number and its hash. */
export interface Head {
  seq: number;
  mac: string;
}

/** The columns of an entry that its hash covers, in this order. */
const COLUMNS =
  "id, at, actor_kind, actor_id, actor_name, action, target_kind, target_id, target_name, details, address, request_id".split(
    ", ",
  );
/** Numbered entries, from after `?1`, for hashes: all columns are those of the entry, null if it is gone. */
export const NUMBERED_ENTRIES = `SELECT s.seq, s.entry_id, s.mac, ${COLUMNS.map((name) => `l.${name}`).join(", ")}
  FROM audit_seals AS s LEFT JOIN audit_log AS l ON l.id = s.entry_id WHERE s.seq > ?1`;

const BATCH = 200;

/** The hash of an entry in the chain. */
export const hashOf = (key: ChainKey, before: string, row: Row): string =>
  hmac(key, JSON.stringify([before, row.seq, ...COLUMNS.map((name) => row[name])]));

export const signatureOf = (key: ChainKey, { begunAt, anchor, head }: ChainState): string =>
  hmac(key, JSON.stringify(["chain", begunAt, anchor.seq, anchor.mac, head.seq, head.mac]));

const hmac = (key: ChainKey, text: string) => new Bun.CryptoHasher("sha256", key).update(text).digest("base64url");

export async function readState(database: Pick<Database, "read">): Promise<(ChainState & { row: Row }) | undefined> {
  const row = (await database.read("SELECT * FROM audit_chain")).rows[0];
  return (
    row && {
      row,
      begunAt: Number(row.begun_at),
      anchor: { seq: Number(row.anchor_seq), mac: String(row.anchor_mac) },
      head: { seq: Number(row.head_seq), mac: String(row.head_mac) },
    }
  );
}

interface Deps {
  database: Database;
  vault: Vault;
  /** Called when entries were sealed. */
  notify(): void;
}

export type Chain = ReturnType<typeof createChain>;

export function createChain({ database, vault, notify }: Deps) {
  /** The work under way; one at a time. */
  let tail: Promise<unknown> = Promise.resolve();

  function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const next = tail.then(work);
    tail = next.then(
      () => undefined,
      () => undefined,
    );
    return next;
  }

  /** The key, and the state as of now; begins the chain if there is none. */
  async function open(): Promise<ChainState & { key: ChainKey }> {
    const found = await readState(database);
    if (found) return { ...found, key: vault.open(String(found.row.chain_key), SEAL_CONTEXT) };
    const key = randomToken();
    const none = { seq: 0, mac: "" };
    const state = { begunAt: Date.now(), anchor: none, head: none };
    const args = [vault.seal(key, SEAL_CONTEXT), state.begunAt, 0, "", 0, "", signatureOf(key, state)];
    await database.write([{ sql: "INSERT INTO audit_chain VALUES (1, ?, ?, ?, ?, ?, ?, ?)", args }]);
    return { ...state, key };
  }

  /** Moves the ends of the chain, unless another process has done so. */
  const moveStatements = (key: ChainKey, before: ChainState, { anchor, head, begunAt }: ChainState): Statement[] => [
    {
      sql: `UPDATE audit_chain SET anchor_seq = ?, anchor_mac = ?, head_seq = ?, head_mac = ?, signature = ?
        WHERE head_seq = ? AND anchor_seq = ?`,
      args: [
        ...[anchor.seq, anchor.mac, head.seq, head.mac, signatureOf(key, { anchor, head, begunAt })],
        ...[before.head.seq, before.anchor.seq],
      ],
    },
    guard("chain"),
  ];

  async function sealAll(): Promise<void> {
    let { key, ...state } = await open();
    for (;;) {
      const { rows } = await database.read(`${NUMBERED_ENTRIES} ORDER BY s.seq LIMIT ${BATCH}`, [state.head.seq]);
      // An entry without its hash that is gone or lies before the head was tampered with: `verify` says so.
      if (rows.length === 0) return;
      let head = state.head;
      const seals = rows.map((row): Statement => {
        head = { seq: Number(row.seq), mac: hashOf(key, head.mac, row) };
        return { sql: "UPDATE audit_seals SET mac = ? WHERE seq = ? AND mac IS NULL", args: [head.mac, head.seq] };
      });
      const next = { ...state, head };
      await database.write([...moveStatements(key, state, next), ...seals]);
      state = next;
      notify();
    }
  }

  const seal = () => inTurn(sealAll);

  return {
    seal,
    async openKey(): Promise<ChainKey | undefined> {
      const state = await readState(database);
      return state && vault.open(String(state.row.chain_key), SEAL_CONTEXT);
    },
    /** Resolves when no work is under way. */
    idle: async (): Promise<void> => void (await tail),

    /**
     * Deletes up to `limit` of the oldest entries that were made before `before` and at least `retentionMs` before the newest one, which the
     * table's trigger checks too. The hash of the last of them is the anchor of the rest. Returns how many.
     */
    prune: (before: number, retentionMs: number, limit: number) =>
      inTurn(async () => {
        const { key, ...state } = await open();
        const { rows } = await database.read(
          `SELECT s.seq, s.mac, l.at <= min(?2, (SELECT at FROM audit_log ORDER BY id DESC LIMIT 1) - ?3) AS isOld
            FROM audit_seals AS s JOIN audit_log AS l ON l.id = s.entry_id
            WHERE s.seq > ?1 AND s.mac IS NOT NULL ORDER BY s.seq LIMIT ?4`,
          [state.anchor.seq, before, retentionMs, limit],
        );
        const young = rows.findIndex(({ isOld }) => !isOld);
        const old = young === -1 ? rows : rows.slice(0, young);
        const last = old.at(-1);
        if (!last) return 0;
        const anchor = { seq: Number(last.seq), mac: String(last.mac) };
        await database.write([
          ...moveStatements(key, state, { ...state, anchor }),
          {
            sql: "DELETE FROM audit_log WHERE id IN (SELECT entry_id FROM audit_seals WHERE seq <= ?)",
            args: [anchor.seq],
          },
          { sql: "DELETE FROM audit_seals WHERE seq <= ?", args: [anchor.seq] },
        ]);
        return old.length;
      }),
  };
}
