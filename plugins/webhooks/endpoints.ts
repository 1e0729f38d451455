// Endpoints: the addresses that users, and the operator, want events sent to; their secrets sealed.
import type { Row } from "@libsql/client";
import { GuardFailed, guard, type Statement } from "../../src/kernel/database/database.ts";
import { AppError } from "../../src/kernel/errors.ts";
import type { Kernel } from "../../src/kernel/plugin.ts";
import { validPreviousSecrets } from "./previous-secrets.ts";
import { newSecret } from "./signing.ts";

/** Endpoints of one user, at most. */
export const MAX_ENDPOINTS = 20;
/** The row of the operator's own endpoint, whose address and secret stay in the configuration. */
export const OPERATOR_ENDPOINT_ID = "operator";

const DAY = 86_400_000;
/** Secrets that sign beside the newest, at most, however often it is rotated. */
const MAX_PREVIOUS_SECRETS = 3;

export interface Endpoint {
  id: string;
  /** Null for the operator's. */
  userId: string | null;
  url: string;
  types: string[];
  description: string;
  /** Gets everybody's events, while its owner is an admin. */
  allEvents: boolean;
  /** Where only an unverified address made its owner an admin: that address. See `audience.ts`. */
  allEventsByEmail: string | null;
  active: boolean;
  /** Why it is not active. */
  disabledReason: string | null;
  createdAt: number;
  updatedAt: number;
}

/** What is kept of how far an endpoint reaches. */
export type EventScope = Pick<Endpoint, "allEvents" | "allEventsByEmail">;

/** Where a delivery goes, and what it is signed with: the newest secret first. */
export interface DeliveryTarget {
  url: string;
  secrets: string[];
  ownerDeleted: boolean;
}

export interface NewEndpoint
  extends Pick<Endpoint, "url" | "types" | "description" | "allEvents" | "allEventsByEmail"> {
  userId: string;
}

export interface EndpointChanges extends Partial<Pick<Endpoint, "url" | "types" | "description" | "active">> {
  eventScope?: EventScope;
}

export interface Endpoints {
  /** With its secret, shown this once. `also` is written in the same batch. 409 `WEBHOOK_LIMIT` with `current` and `limit`. */
  create(
    endpoint: NewEndpoint,
    extraStatements: (created: Endpoint, secret: string) => Statement[],
  ): Promise<{ endpoint: Endpoint; secret: string }>;
  find(id: string): Promise<Endpoint | undefined>;
  /** Newest first. */
  list(userId: string): Promise<Endpoint[]>;
  /** Switching off gives up what waits; switching on again begins with the events from then on. */
  update(id: string, changes: EndpointChanges): Promise<Endpoint | undefined>;
  remove(id: string): Promise<void>;
  /** A new secret; those before it sign for 24 hours more. Undefined when the endpoint is gone. */
  rotateSecret(id: string): Promise<string | undefined>;
  /** Makes the operator's own what the configuration says, or takes it away. */
  operatorEndpointStatements(): Statement[];
  targetOf(row: Row): DeliveryTarget;
}

interface Deps extends Pick<Kernel, "database" | "vault" | "config"> {
  now: () => number;
  /** Some endpoint may want events now. */
  onChange: () => void;
}

const LATEST_SEQ_SQL = "(SELECT coalesce(max(seq), 0) FROM events)";

/** It gets nothing more, and what waits for it is given up. */
export const disableStatements = (id: string, reason: string, now: number): Statement[] => [
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
export const deleteEndpointsStatement = (userId: string): Statement => ({
  sql: "DELETE FROM webhook_endpoints WHERE user_id = ?",
  args: [userId],
});

export function createEndpoints({ database, vault, config, now, onChange }: Deps): Endpoints {
  const sealSecret = (id: string, secret: string) => vault.seal(secret, `webhook:${id}`);

  async function findRow(sql: string, args: string[]): Promise<Row | undefined> {
    return (await database.read(sql, args)).rows[0];
  }

  async function find(id: string): Promise<Endpoint | undefined> {
    const row = await findRow("SELECT * FROM webhook_endpoints WHERE id = ?", [id]);
    return row && toEndpoint(row);
  }

  return {
    find,

    async create({ userId, url, types, description, allEvents, allEventsByEmail }, extraStatements) {
      const at = now();
      const id = Bun.randomUUIDv7();
      const secret = newSecret();
      const state = { active: true, disabledReason: null, createdAt: at, updatedAt: at };
      const endpoint: Endpoint = { id, userId, url, types, description, allEvents, allEventsByEmail, ...state };
      try {
        await database.write([
          {
            sql: `INSERT INTO webhook_endpoints (id, user_id, url, types, description, secret, wide, from_seq, created_at, updated_at, wide_as)
              SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ${LATEST_SEQ_SQL}, ?8, ?8, ?9
              WHERE (SELECT count(*) FROM webhook_endpoints WHERE user_id = ?2) < ${MAX_ENDPOINTS}`,
            args: [
              id,
              userId,
              url,
              JSON.stringify(types),
              description,
              sealSecret(id, secret),
              Number(allEvents),
              at,
              allEventsByEmail,
            ],
            after: onChange,
          },
          guard("webhooks.limit"),
          ...extraStatements(endpoint, secret),
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

    async update(id, { url, types, description, eventScope, active }) {
      const at = now();
      const statements: Statement[] = [
        {
          sql: `UPDATE webhook_endpoints SET url = coalesce(?, url), types = coalesce(?, types),
              description = coalesce(?, description), updated_at = ? WHERE id = ?`,
          args: [url ?? null, types ? JSON.stringify(types) : null, description ?? null, at, id],
        },
      ];
      if (eventScope) {
        const sql = "UPDATE webhook_endpoints SET wide = ?, wide_as = ? WHERE id = ?";
        statements.push({ sql, args: [Number(eventScope.allEvents), eventScope.allEventsByEmail, id] });
      }
      if (active === false) statements.push(...disableStatements(id, "Switched off.", at));
      if (active === true) {
        statements.push({
          sql: `UPDATE webhook_endpoints SET active = 1, disabled_reason = NULL, from_seq = ${LATEST_SEQ_SQL} WHERE id = ? AND active = 0`,
          args: [id],
          after: onChange,
        });
      }
      await database.write(statements);
      return find(id);
    },

    async remove(id) {
      await database.write([{ sql: "DELETE FROM webhook_endpoints WHERE id = ?", args: [id] }]);
    },

    async rotateSecret(id) {
      for (;;) {
        const row = await findRow("SELECT secret, previous_secrets FROM webhook_endpoints WHERE id = ?", [id]);
        if (!row) return undefined;
        const secret = newSecret();
        const at = now();
        const previousSecrets = [{ secret: String(row.secret), until: at + DAY }, ...validPreviousSecrets(row, at)];
        const [updated] = await database.write([
          {
            sql: "UPDATE webhook_endpoints SET secret = ?, previous_secrets = ?, updated_at = ? WHERE id = ? AND secret = ?",
            args: [
              sealSecret(id, secret),
              JSON.stringify(previousSecrets.slice(0, MAX_PREVIOUS_SECRETS)),
              at,
              id,
              String(row.secret),
            ],
          },
        ]);
        // Otherwise another rotation came in between, whose secret must not be lost.
        if (updated?.rowsAffected === 1) return secret;
      }
    },

    operatorEndpointStatements() {
      if (!config.webhook.url || !config.webhook.secret) {
        return [{ sql: "DELETE FROM webhook_endpoints WHERE id = ?", args: [OPERATOR_ENDPOINT_ID] }];
      }
      return [
        {
          sql: `INSERT INTO webhook_endpoints (id, url, types, description, secret, from_seq, created_at, updated_at)
            VALUES (?1, '', '["*"]', 'WEBHOOK_URL', '', ${LATEST_SEQ_SQL}, ?2, ?2)
            ON CONFLICT (id) DO UPDATE SET from_seq = CASE active WHEN 1 THEN from_seq ELSE excluded.from_seq END,
              active = 1, disabled_reason = NULL`,
          args: [OPERATOR_ENDPOINT_ID, now()],
        },
      ];
    },

    targetOf(row) {
      const id = String(row.id);
      if (id === OPERATOR_ENDPOINT_ID) {
        return { url: config.webhook.url ?? "", secrets: [config.webhook.secret ?? ""], ownerDeleted: false };
      }
      const sealed = [String(row.secret), ...validPreviousSecrets(row, now()).map(({ secret }) => secret)];
      return {
        url: String(row.url),
        secrets: sealed.map((secret) => vault.open(secret, `webhook:${id}`)),
        ownerDeleted: row.owner_gone === 1,
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
  allEvents: row.wide === 1,
  allEventsByEmail: row.wide_as === null ? null : String(row.wide_as),
  active: row.active === 1,
  disabledReason: row.disabled_reason === null ? null : String(row.disabled_reason),
  createdAt: Number(row.created_at),
  updatedAt: Number(row.updated_at),
});

/** For the batch after which nothing more is to come: endpoints whose users are gone, with all their news delivered. */
export const DELETE_ORPHANED_ENDPOINTS: Statement = {
  sql: `DELETE FROM webhook_endpoints WHERE owner_gone = 1
    AND NOT EXISTS (SELECT 1 FROM webhook_deliveries WHERE endpoint_id = webhook_endpoints.id AND status = 'pending')
    AND (active = 0 OR NOT EXISTS (SELECT 1 FROM events WHERE events.user_id = webhook_endpoints.user_id
      AND seq > (SELECT seq FROM webhook_cursor)))`,
  args: [],
};
