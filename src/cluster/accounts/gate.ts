// Stands before the surfaces of a cell: a request for an account that has left goes to its cell, and one for an account that moves
// at this moment waits. It looks nothing up as long as no account has left this cell or is on its way.
import { elsewhereResponse, forwardingOf } from "../../kernel/cells/forwarding.ts";
import type { Database } from "../../kernel/database/database.ts";
import { AppError } from "../../kernel/errors.ts";
import type { Surface } from "../../kernel/http/surface.ts";
import { failure } from "../relay/failure.ts";
import { BUFFERED_BYTES } from "../relay/relay.ts";
import { remainsOf } from "./cell-remains.ts";
import { keysOfRequest } from "./request-keys.ts";

/** Where an account is: on its way, or in a cell, if only this one. */
export type Whereabouts = "moving" | { cell: number };

export interface Gate {
  /** Call it once the cell is open, and after each change of the tables. */
  refresh(): Promise<void>;
  /** Undefined for a key of no account that has ever left or come. */
  find(keys: readonly string[]): Promise<Whereabouts | undefined>;
  before(surface: Surface): Surface;
}

interface Deps {
  database: Pick<Database, "read">;
  agentsDomain: string;
  /** The number of this cell. */
  here: number;
}

/** Milliseconds for which a request waits for a move. */
const WAIT_MS = 8_000;
const ANY = "SELECT count(*) AS n, count(*) FILTER (WHERE state <> 'here') AS away FROM moving_accounts";
/** Of the cell itself, while it is closed. */
const CLOSING = "SELECT state FROM moving_accounts WHERE account_id = ? AND state IN ('leaving', 'left')";
const FIND = `SELECT state, cell FROM moved_keys JOIN moving_accounts USING (account_id)
  WHERE key IN (SELECT value FROM json_each(?)) LIMIT 1`;

export function createGate({ database, agentsDomain, here }: Deps): Gate {
  // Until it is known.
  let isUsed = true;
  let hasKeys = true;
  /** This cell has no accounts any more: cell 0 answers for it, or is about to. */
  let closing: Whereabouts | undefined;
  let changed = Promise.withResolvers<void>();

  async function find(keys: readonly string[]): Promise<Whereabouts | undefined> {
    if (!hasKeys || keys.length === 0) return undefined;
    const [row] = (await database.read(FIND, [JSON.stringify(keys)])).rows;
    if (!row) return undefined;
    if (row.state === "here") return { cell: here };
    return row.state === "left" ? { cell: Number(row.cell) } : "moving";
  }

  /** The answer that sends the request on, or says that it has to be repeated; undefined if it is for an account of this cell. */
  async function answer(request: Request): Promise<Response | undefined> {
    const keys = keysOfRequest(request, agentsDomain);
    const end = performance.now() + WAIT_MS;
    for (;;) {
      const { promise } = changed;
      const known = await find(keys);
      const found = known === undefined || (known !== "moving" && known.cell === here) ? (closing ?? known) : known;
      if (found === undefined || (found !== "moving" && found.cell === here)) return undefined;
      if (found !== "moving") return sendOn(request, found.cell);
      const leftMs = end - performance.now();
      if (leftMs <= 0) return failure(accountMoving());
      let timer: Timer | undefined;
      await Promise.race([promise, new Promise<void>((resolve) => (timer = setTimeout(resolve, leftMs)))]);
      clearTimeout(timer);
    }
  }

  return {
    async refresh() {
      const [row] = (await database.read(ANY)).rows;
      hasKeys = Number(row?.n) > 0;
      isUsed = Number(row?.away) > 0;
      const [own] = (await database.read(CLOSING, [remainsOf(here)])).rows;
      closing = own && (own.state === "left" ? { cell: 0 } : "moving");
      changed.resolve();
      changed = Promise.withResolvers();
    },
    find,
    before: (surface) => ({
      name: surface.name,
      async fetch(request, server) {
        const elsewhere = isUsed ? await answer(request) : undefined;
        return elsewhere ?? surface.fetch(request, server);
      },
      handle: surface.handle,
    }),
  };
}

/** A router keeps a small body, so that only a large one has to go back with the answer. */
async function sendOn(request: Request, cell: number): Promise<Response> {
  const length = Number(request.headers.get("content-length") ?? (request.body ? Number.NaN : 0));
  const body = length <= BUFFERED_BYTES ? undefined : new Uint8Array(await request.arrayBuffer());
  return elsewhereResponse(cell, forwardingOf(request) ?? {}, body);
}

/** 503 with `Retry-After`. */
export const accountMoving = () =>
  new AppError(503, "ACCOUNT_MOVING", "This account is being moved within the service. Try again in some seconds.", {
    retryAfter: 2,
  });
