// What calls cost: budgets reserved before a call and settled after it, every call a row.
import type { Database, Statement } from "../../src/database.ts";
import { AppError } from "../../src/errors.ts";
import type { Log } from "../../src/log.ts";
import { costMicroUsd, type Pricing } from "./pricing.ts";
import type { ProviderId } from "./providers.ts";
import type { CallUsage } from "./usage.ts";

/** A budget: whose, over which UTC period, and how much (whole micro-USD). */
export interface Scope {
  readonly of: { agentId: string } | { userId: string } | "public";
  readonly period: "day" | "month";
  readonly limit: number;
}

/** What answered a call. */
export interface Served {
  readonly provider: ProviderId;
  readonly modelId: string;
  readonly pricing: Pricing;
}

/** Who made a call, and to what. */
export interface CallOf extends Served {
  readonly kind: "turn" | "public" | "api";
  readonly userId?: string | undefined;
  readonly agentId?: string | undefined;
}

/** A started call. Exactly one of `settle`, `record` and `release` ends it; what comes after that changes no budget. */
export interface Spending {
  /** The row of the call, for the batch of its cause. `served`: who answered in the end, where that was another. */
  settle(usage: CallUsage, latencyMs: number, served?: Served): Statement;
  /** The same, written on its own within 50 ms: for calls that cause no other write. */
  record(usage: CallUsage, latencyMs: number, served?: Served): void;
  /** The call used nothing. */
  release(): void;
}

export interface Ledger {
  /**
   * Puts `microUsd` aside in every scope, or throws 402 BUDGET_EXCEEDED and puts aside nothing. Answers at once unless a
   * scope has to be summed up from the ledger first. What costs nothing is never refused.
   */
  reserve(call: CallOf, scopes: readonly Scope[], microUsd: number): Spending | Promise<Spending>;
  /** Whole micro-USD spent and set aside in this scope's current period. */
  spent(scope: Omit<Scope, "limit">): Promise<number>;
  /** Writes what `record` still holds. */
  close(): Promise<void>;
}

interface Account {
  readonly key: string;
  /** Epoch ms at which the period began; another one means a new account. */
  readonly since: number;
  spent: number;
  reserved: number;
}

/** Accounts held in memory; those with nothing set aside go first, the oldest of them. */
const MAX_ACCOUNTS = 20_000;
const FLUSH_MS = 50;
const FLUSH_ROWS = 200;
/** Rows kept while the database can't be written; beyond it the oldest are lost, and the log says how many. */
const MAX_WAITING = 20_000;

const COLUMNS =
  "id, at, kind, user_id, agent_id, provider, model, input_tokens, output_tokens, cost_micro_usd, latency_ms, estimated";
const ROW = "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
/** Rows of one statement. */
const SIZES = [200, 50, 10, 1];
const INSERT_ONE = `INSERT INTO usage (${COLUMNS}) VALUES ${ROW}`;

type Row = Statement["args"];

interface Deps {
  database: Pick<Database, "write" | "read">;
  log: Pick<Log, "error">;
  /** Epoch ms. */
  now?: () => number;
}

export function createLedger({ database, log, now = Date.now }: Deps): Ledger {
  const accounts = new Map<string, Account>();
  const loading = new Map<string, Promise<Account>>();
  let waiting: Row[] = [];
  let timer: Timer | undefined;
  let flushing: Promise<void> = Promise.resolve();

  function held(scope: Omit<Scope, "limit">, at: number): Account | undefined {
    const account = accounts.get(keyOf(scope));
    return account?.since === periodStart(scope.period, at) ? account : undefined;
  }

  function load(scope: Omit<Scope, "limit">, at: number): Promise<Account> {
    const since = periodStart(scope.period, at);
    const key = keyOf(scope);
    const flight = `${key} ${since}`;
    let under = loading.get(flight);
    if (!under) {
      under = sumUp(scope, key, since).finally(() => loading.delete(flight));
      loading.set(flight, under);
    }
    return under;
  }

  async function sumUp(scope: Omit<Scope, "limit">, key: string, since: number): Promise<Account> {
    await flush();
    const { sql, args } = sumOf(scope, since);
    const { rows } = await database.read(sql, args);
    const account: Account = { key, since, spent: Number(rows[0]?.[0] ?? 0), reserved: 0 };
    evict();
    accounts.set(key, account);
    return account;
  }

  function evict(): void {
    if (accounts.size < MAX_ACCOUNTS) return;
    let left = MAX_ACCOUNTS / 10;
    for (const [key, { reserved }] of accounts) {
      if (reserved > 0) continue;
      accounts.delete(key);
      if (--left === 0) return;
    }
  }

  function take(call: CallOf, scopes: readonly Scope[], accountsOf: readonly Account[], micro: number, at: number) {
    for (const [index, scope] of scopes.entries()) {
      const account = accountsOf[index];
      if (account && account.spent + account.reserved + micro > scope.limit) throw exceeded(scope, account);
    }
    for (const account of accountsOf) account.reserved += micro;
    return spending(call, accountsOf, micro, at);
  }

  function spending(call: CallOf, accountsOf: readonly Account[], micro: number, at: number): Spending {
    let open = true;
    function end(cost: number): void {
      if (!open) return;
      open = false;
      for (const account of accountsOf) {
        account.reserved -= micro;
        account.spent += cost;
      }
    }
    function row({ inputTokens, outputTokens, estimated }: CallUsage, latencyMs: number, served: Served = call): Row {
      const { provider, modelId } = served;
      const cost = costMicroUsd(served.pricing, inputTokens, outputTokens);
      end(cost);
      const { kind, userId = null, agentId = null } = call;
      const latency = Math.round(latencyMs);
      const id = Bun.randomUUIDv7();
      return [
        id,
        at,
        kind,
        userId,
        agentId,
        provider,
        modelId,
        inputTokens,
        outputTokens,
        cost,
        latency,
        estimated ? 1 : 0,
      ];
    }
    return {
      settle: (usage, latencyMs, served) => ({ sql: INSERT_ONE, args: row(usage, latencyMs, served) }),
      record(usage, latencyMs, served) {
        waiting.push(row(usage, latencyMs, served));
        if (waiting.length >= FLUSH_ROWS) flushSoon(0);
        else flushSoon(FLUSH_MS);
      },
      release: () => end(0),
    };
  }

  function flushSoon(ms: number): void {
    if (timer && ms > 0) return;
    clearTimeout(timer);
    timer = setTimeout(() => void flush(), ms);
  }

  function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    flushing = flushing.then(writeWaiting);
    return flushing;
  }

  /** Never rejects: rows that can't be written now are written with the next ones. */
  async function writeWaiting(): Promise<void> {
    while (waiting.length > 0) {
      const rows = waiting;
      waiting = [];
      try {
        await database.write(inserts(rows));
      } catch (error) {
        const lost = Math.max(0, rows.length + waiting.length - MAX_WAITING);
        waiting = [...rows, ...waiting].slice(lost);
        log.error("the ledger could not be written; it will be with the next calls", {
          rows: waiting.length,
          lost,
          error,
        });
        return;
      }
    }
  }

  return {
    reserve(call, scopes, microUsd) {
      const at = now();
      if (scopes.length === 0 || microUsd === 0) return spending(call, [], 0, at);
      const known = scopes.map((scope) => held(scope, at));
      const ready = known.filter((account) => account !== undefined);
      if (ready.length === scopes.length) return take(call, scopes, ready, microUsd, at);
      return Promise.all(scopes.map((scope) => held(scope, at) ?? load(scope, at))).then((loaded) =>
        take(call, scopes, loaded, microUsd, at),
      );
    },
    async spent(scope) {
      const { spent, reserved } = held(scope, now()) ?? (await load(scope, now()));
      return spent + reserved;
    },
    close: flush,
  };
}

/** Few different statements, so that they stay prepared; many rows in one are twice as fast as one in each. */
function inserts(rows: readonly Row[]): Statement[] {
  const statements: Statement[] = [];
  for (let at = 0; at < rows.length; ) {
    const size = SIZES.find((count) => count <= rows.length - at) ?? 1;
    const values = Array(size).fill(ROW).join(", ");
    statements.push({
      sql: `INSERT INTO usage (${COLUMNS}) VALUES ${values}`,
      args: rows.slice(at, at + size).flat(),
    });
    at += size;
  }
  return statements;
}

function keyOf({ of, period }: Omit<Scope, "limit">): string {
  if (of === "public") return `public ${period}`;
  return "agentId" in of ? `agent ${of.agentId} ${period}` : `user ${of.userId} ${period}`;
}

/** Days and months are UTC. */
function periodStart(period: Scope["period"], at: number): number {
  if (period === "day") return at - (at % 86_400_000);
  const date = new Date(at);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1);
}

function sumOf({ of }: Omit<Scope, "limit">, since: number): { sql: string; args: Row } {
  const sum = "SELECT coalesce(sum(cost_micro_usd), 0) FROM usage WHERE";
  if (of === "public") return { sql: `${sum} kind = 'public' AND at >= ?`, args: [since] };
  if ("agentId" in of) return { sql: `${sum} agent_id = ? AND at >= ?`, args: [of.agentId, since] };
  const own = "(kind = 'api' AND user_id = ? AND at >= ?)";
  const agents = "(agent_id IN (SELECT id FROM agents WHERE user_id = ?) AND at >= ?)";
  return { sql: `${sum} ${own} OR ${agents}`, args: [of.userId, since, of.userId, since] };
}

function exceeded({ of, period, limit }: Scope, { spent }: Account): AppError {
  const whose = of === "public" ? "Public use of AI" : "agentId" in of ? "This agent" : "This account";
  const message = `${whose} has used up its budget for this ${period}.`;
  return new AppError(402, "BUDGET_EXCEEDED", message, { period, limitUsd: limit / 1e6, spentUsd: spent / 1e6 });
}
