// Endpoints: the addresses that users, and the operator, want events sent to; their secrets sealed.
import type { Row } from "@libsql/client";
import { GuardFailed, guard, type Statement } from "../../src/database.ts";
import { AppError } from "../../src/errors.ts";
import type { Kernel } from "../../src/plugin.ts";
import { stillGood } from "./earlier-secrets.ts";
import { newSecret } from "./signing.ts";

/** Endpoints of one user, at most. */
export const MAX_ENDPOINTS = 20;
/** The row of the operator's own endpoint, whose address and secret stay in the configuration. */
export const OPERATOR = "operator";

const DAY = 86_400_000;
/** Secrets that sign beside the newest, at most, however often it is rotated. */
const MAX_PREVIOUS = 3;

export interface Endpoint {
  id: string;
  /** Null for the operator's. */
  userId: string | null;
  url: string;
  types: string[];
  description: string;
  /** Gets everybody's events, while its owner is an admin. */
  wide: boolean;
  /** Where only an unverified address made its owner an admin: that address. See `audience.ts`. */
  wideAs: string | null;
  active: boolean;
  /** Why it is not active. */
  disabledReason: string | null;
  createdAt: number;
  updatedAt: number;
}

/** What is kept of how far an endpoint reaches. */
export type Reach = Pick<Endpoint, "wide" | "wideAs">;

/** Where a delivery goes, and what it is signed with: the newest secret first. */
export interface Target {
  url: string;
  secrets: string[];
  ownerGone: boolean;
}

export interface NewEndpoint extends Pick<Endpoint, "url" | "types" | "description" | "wide" | "wideAs"> {
  userId: string;
}

export interface EndpointChanges extends Partial<Pick<Endpoint, "url" | "types" | "description" | "active">> {
  reach?: Reach;
}

export interface Endpoints {
  /** With its secret, shown this once. `also` is written in the same batch. 409 `WEBHOOK_LIMIT` with `current` and `limit`. */
  create(
    endpoint: NewEndpoint,
    also: (made: Endpoint, secret: string) => Statement[],
  ): Promise<{ endpoint: Endpoint; secret: string }>;
  find(id: string): Promise<Endpoint | undefined>;
  /** Newest first. */
  list(userId: string): Promise<Endpoint[]>;
  /** Switching off gives up what waits; switching on again begins with the events from then on. */
  update(id: string, changes: EndpointChanges): Promise<Endpoint | undefined>;
  remove(id: string): Promise<void>;
  /** A new secret; those before it sign for 24 hours more. Undefined when the endpoint is gone. */
  rotate(id: string): Promise<string | undefined>;
  /** Makes the operator's own what the configuration says, or takes it away. */
  settleOperator(): Statement[];
  targetOf(row: Row): Target;
}

interface Deps extends Pick<Kernel, "database" | "vault" | "config"> {
  now: () => number;
  /** Some endpoint may want events now. */
  changed: () => void;
}

const LATEST = "(SELECT coalesce(max(seq), 0) FROM events)";

/** It gets nothing more, and what waits for it is given up. */
export const switchedOff = (id: string, reason: string, now: number): Statement[] => [
  {
    sql: "UPDATE webhook_endpoints SET active = 0, disabled_reason = ?, updated_at = ? WHERE id = ? AND active = 1",
    args: [reason, now, id],
  },
  {
    sql: `UPDATE webhook_deliveries SET status = 'failed', last_error = ?, next_attempt_at = NULL, claimed_until = NULL
      WHERE endpoint_id = ? AND status = 'pending'`,
    args: [reason, id],
  },
];

/** A stranger's who had the account before: it told them of it. */
export const forgetEndpoints = (userId: string): Statement => ({
  sql: "DELETE FROM webhook_endpoints WHERE user_id = ?",
  args: [userId],
});

export function createEndpoints({ database, vault, config, now, changed }: Deps): Endpoints {
  const seal = (id: string, secret: string) => vault.seal(secret, `webhook:${id}`);

  async function one(sql: string, args: string[]): Promise<Row | undefined> {
    return (await database.read(sql, args)).rows[0];
  }

  async function find(id: string): Promise<Endpoint | undefined> {
    const row = await one("SELECT * FROM webhook_endpoints WHERE id = ?", [id]);
    return row && toEndpoint(row);
  }

  return {
    find,

    async create({ userId, url, types, description, wide, wideAs }, also) {
      const at = now();
      const id = Bun.randomUUIDv7();
      const secret = newSecret();
      const state = { active: true, disabledReason: null, createdAt: at, updatedAt: at };
      const endpoint: Endpoint = { id, userId, url, types, description, wide, wideAs, ...state };
      try {
        await database.write([
          {
            sql: `INSERT INTO webhook_endpoints (id, user_id, url, types, description, secret, wide, from_seq, created_at, updated_at, wide_as)
              SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ${LATEST}, ?8, ?8, ?9
              WHERE (SELECT count(*) FROM webhook_endpoints WHERE user_id = ?2) < ${MAX_ENDPOINTS}`,
            args: [id, userId, url, JSON.stringify(types), description, seal(id, secret), Number(wide), at, wideAs],
            after: changed,
          },
          guard("webhooks.limit"),
          ...also(endpoint, secret),
        ]);
      } catch (error) {
        if (!(error instanceof GuardFailed && error.guard === "webhooks.limit")) throw error;
        const text = `You have ${MAX_ENDPOINTS} webhooks, which is the limit. Remove one first.`;
        throw new AppError(409, "WEBHOOK_LIMIT", text, { current: MAX_ENDPOINTS, limit: MAX_ENDPOINTS });
      }
      return { endpoint, secret };
    },

    async list(userId) {
      const { rows } = await database.read("SELECT * FROM webhook_endpoints WHERE user_id = ? ORDER BY id DESC", [
        userId,
      ]);
      return rows.map(toEndpoint);
    },

    async update(id, { url, types, description, reach, active }) {
      const at = now();
      const statements: Statement[] = [
        {
          sql: `UPDATE webhook_endpoints SET url = coalesce(?, url), types = coalesce(?, types),
              description = coalesce(?, description), updated_at = ? WHERE id = ?`,
          args: [url ?? null, types ? JSON.stringify(types) : null, description ?? null, at, id],
        },
      ];
      if (reach) {
        const sql = "UPDATE webhook_endpoints SET wide = ?, wide_as = ? WHERE id = ?";
        statements.push({ sql, args: [Number(reach.wide), reach.wideAs, id] });
      }
      if (active === false) statements.push(...switchedOff(id, "Switched off.", at));
      if (active === true) {
        statements.push({
          sql: `UPDATE webhook_endpoints SET active = 1, disabled_reason = NULL, from_seq = ${LATEST} WHERE id = ? AND active = 0`,
          args: [id],
          after: changed,
        });
      }
      await database.write(statements);
      return find(id);
    },

    async remove(id) {
      await database.write([{ sql: "DELETE FROM webhook_endpoints WHERE id = ?", args: [id] }]);
    },

    async rotate(id) {
      for (;;) {
        const row = await one("SELECT secret, previous_secrets FROM webhook_endpoints WHERE id = ?", [id]);
        if (!row) return undefined;
        const secret = newSecret();
        const at = now();
        const previous = [{ secret: String(row.secret), until: at + DAY }, ...stillGood(row, at)];
        const [updated] = await database.write([
          {
            sql: "UPDATE webhook_endpoints SET secret = ?, previous_secrets = ?, updated_at = ? WHERE id = ? AND secret = ?",
            args: [seal(id, secret), JSON.stringify(previous.slice(0, MAX_PREVIOUS)), at, id, String(row.secret)],
          },
        ]);
        // Otherwise another rotation came in between, whose secret must not be lost.
        if (updated?.rowsAffected === 1) return secret;
      }
    },

    settleOperator() {
      if (!config.webhook.url || !config.webhook.secret) {
        return [{ sql: "DELETE FROM webhook_endpoints WHERE id = ?", args: [OPERATOR] }];
      }
      return [
        {
          sql: `INSERT INTO webhook_endpoints (id, url, types, description, secret, from_seq, created_at, updated_at)
            VALUES (?1, '', '["*"]', 'WEBHOOK_URL', '', ${LATEST}, ?2, ?2)
            ON CONFLICT (id) DO UPDATE SET from_seq = CASE active WHEN 1 THEN from_seq ELSE excluded.from_seq END,
              active = 1, disabled_reason = NULL`,
          args: [OPERATOR, now()],
        },
      ];
    },

    targetOf(row) {
      const id = String(row.id);
      if (id === OPERATOR) {
        return { url: config.webhook.url ?? "", secrets: [config.webhook.secret ?? ""], ownerGone: false };
      }
      const sealed = [String(row.secret), ...stillGood(row, now()).map(({ secret }) => secret)];
      return {
        url: String(row.url),
        secrets: sealed.map((secret) => vault.open(secret, `webhook:${id}`)),
        ownerGone: row.owner_gone === 1,
      };
    },
  };
}

export const toEndpoint = (row: Row): Endpoint => ({
  id: String(row.id),
  userId: row.user_id === null ? null : String(row.user_id),
  url: String(row.url),
  types: JSON.parse(String(row.types)),
  description: String(row.description),
  wide: row.wide === 1,
  wideAs: row.wide_as === null ? null : String(row.wide_as),
  active: row.active === 1,
  disabledReason: row.disabled_reason === null ? null : String(row.disabled_reason),
  createdAt: Number(row.created_at),
  updatedAt: Number(row.updated_at),
});

/** For the batch after which nothing more is to come: endpoints whose users are gone, with all their news delivered. */
export const CLEARED: Statement = {
  sql: `DELETE FROM webhook_endpoints WHERE owner_gone = 1
    AND NOT EXISTS (SELECT 1 FROM webhook_deliveries WHERE endpoint_id = webhook_endpoints.id AND status = 'pending')
    AND (active = 0 OR NOT EXISTS (SELECT 1 FROM events WHERE events.user_id = webhook_endpoints.user_id
      AND seq > (SELECT seq FROM webhook_cursor)))`,
  args: [],
};
