// Keeps responses of /v1/responses, so that later requests can continue them, for their owner alone.
import type { Database, Statement } from "../../../src/kernel/database/database.ts";
import { AppError } from "../../../src/kernel/errors.ts";
import { DAY } from "../../../src/kernel/util/time.ts";
import { createPublicResponses } from "./public-responses.ts";
import { MAX_CHAIN_BYTES, type ResponseKeeper, type StoredResponse } from "./response-keeper.ts";
import { KEPT_MS } from "./responses-retention.ts";

type Json = Readonly<Record<string, unknown>>;

/** The newest responses of an account that are kept, and their bytes together. */
const MAX_RESPONSES = 2_000;
const MAX_BYTES = 64 * 1024 * 1024;
/** An account's older responses are looked for once in so many stored ones. */
const TRIM_EVERY = 16;
const MAX_CHAIN = 1_000;

interface Deps {
  database: Pick<Database, "read" | "write">;
  /** Epoch ms. */
  now?: () => number;
}

export function createStoredResponses({ database, now = Date.now }: Deps): ResponseKeeper {
  const ofNobody = createPublicResponses({ now });
  const savedSinceTrim = new Map<string, number>();

  function trimStatements(userId: string): Statement[] {
    const saved = (savedSinceTrim.get(userId) ?? 0) + 1;
    if (savedSinceTrim.size > 10_000) savedSinceTrim.clear();
    savedSinceTrim.set(userId, saved % TRIM_EVERY);
    return saved < TRIM_EVERY ? [] : [{ sql: TRIM_SQL, args: [userId, MAX_RESPONSES, MAX_BYTES] }];
  }

  return {
    async save(owner, stored) {
      if (owner === undefined) return ofNobody.save(stored);
      const { id, rootId, previousId = null, source = null, state = null } = stored;
      const [input, response] = [JSON.stringify(stored.input), JSON.stringify(stored.response)];
      const at = now();
      const bytes = Buffer.byteLength(input) + Buffer.byteLength(response);
      const args = [id, owner, rootId, previousId, source, state, input, response, bytes, at, at + KEPT_MS];
      await database.write([
        { sql: INSERT_SQL, args },
        // Those before it live as long; a conversation that goes on is touched once a day.
        ...(rootId === id ? [] : [{ sql: KEEP_SQL, args: [at + KEPT_MS, owner, rootId, at + KEPT_MS - DAY] }]),
        ...trimStatements(owner),
      ]);
    },

    async find(owner, id) {
      if (owner === undefined) return ofNobody.find(id);
      const { rows } = await database.read(`${SELECT_SQL} WHERE id = ? AND user_id = ? AND expires_at > ?`, [
        id,
        owner,
        now(),
      ]);
      return rows[0] && fromRow(rows[0]);
    },

    async chain(owner, id) {
      const found = owner === undefined ? ofNobody.chain(id) : await readChain(database, owner, id, now());
      if (found.length === 0) throw previousNotFound(id, "There is no such response, or it has expired.");
      // The first one of a conversation follows none.
      if (found[0]?.previousId !== undefined) {
        throw previousNotFound(
          id,
          "An earlier response of this conversation was deleted, or the conversation is too long.",
        );
      }
      return found;
    },

    async remove(owner, id) {
      if (owner === undefined) return ofNobody.remove(id);
      const deletion = { sql: "DELETE FROM api_responses WHERE id = ? AND user_id = ?", args: [id, owner] };
      const [result] = await database.write([deletion]);
      return (result?.rowsAffected ?? 0) > 0;
    },
  };
}

const COLUMNS = "id, root_id, previous_id, source, state, input, response";
const SELECT_SQL = `SELECT ${COLUMNS} FROM api_responses`;
const INSERT_SQL = `INSERT INTO api_responses (id, user_id, root_id, previous_id, source, state, input, response, bytes, created_at, expires_at)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
const KEEP_SQL = "UPDATE api_responses SET expires_at = ? WHERE user_id = ? AND root_id = ? AND expires_at < ?";
const TRIM_SQL = `DELETE FROM api_responses WHERE rowid IN (
  SELECT row FROM (
    SELECT rowid AS row, row_number() OVER newest AS number, sum(bytes) OVER newest AS total
    FROM api_responses WHERE user_id = ? WINDOW newest AS (ORDER BY created_at DESC, rowid DESC)
  ) WHERE number > ? OR total > ?)`;
const CHAIN_SQL = `WITH RECURSIVE chain AS (
    SELECT ${COLUMNS}, bytes AS total, 1 AS depth FROM api_responses WHERE id = ?1 AND user_id = ?2 AND expires_at > ?3
    UNION ALL
    SELECT ${COLUMNS.replace(/\w+/g, "earlier.$&")}, chain.total + earlier.bytes, chain.depth + 1
    FROM chain JOIN api_responses AS earlier ON earlier.id = chain.previous_id
    WHERE earlier.user_id = ?2 AND earlier.expires_at > ?3 AND chain.depth < ?4 AND chain.total + earlier.bytes <= ?5
  ) SELECT ${COLUMNS} FROM chain ORDER BY depth DESC`;

async function readChain(
  database: Deps["database"],
  owner: string,
  id: string,
  now: number,
): Promise<StoredResponse[]> {
  const { rows } = await database.read(CHAIN_SQL, [id, owner, now, MAX_CHAIN, MAX_CHAIN_BYTES]);
  return rows.map(fromRow);
}

const fromRow = (row: Readonly<Record<string, unknown>>): StoredResponse => ({
  id: String(row.id),
  rootId: String(row.root_id),
  previousId: textOrNothing(row.previous_id),
  source: textOrNothing(row.source),
  state: textOrNothing(row.state),
  input: JSON.parse(String(row.input)) as Json[],
  response: JSON.parse(String(row.response)) as StoredResponse["response"],
});

const textOrNothing = (value: unknown) => (typeof value === "string" ? value : undefined);

const previousNotFound = (id: string, why: string) =>
  new AppError(
    400,
    "PREVIOUS_RESPONSE_NOT_FOUND",
    `The response ${JSON.stringify(id.slice(0, 100))} can't be continued. ${why} Send the conversation as input.`,
    { field: "previous_response_id" },
  );
