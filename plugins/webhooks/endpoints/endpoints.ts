// Stores webhook endpoints: the addresses that receive events, with sealed signing secrets.
import type { Row } from "@libsql/client";
import { GuardFailed, guard, type Statement } from "../../../src/kernel/database/database.ts";
import { AppError } from "../../../src/kernel/errors.ts";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import { DAY } from "../../../src/kernel/util/time.ts";
import type { DeliveryTarget } from "../delivery/delivery-rows.ts";
import { newSecret } from "../delivery/signing.ts";
import { disableStatements, LATEST_SEQ_SQL } from "./endpoint-statements.ts";
import { OPERATOR_ENDPOINT_ID, operatorTarget } from "./operator-endpoint.ts";
import { validPreviousSecrets } from "./previous-secrets.ts";

/** Limit per user. */
export const MAX_ENDPOINTS = 20;
/** Previous secrets that sign beside the newest one; more rotations within a day drop the oldest. */
const MAX_PREVIOUS_SECRETS = 3;

export interface Endpoint {
  id: string;
  /** Null for the operator's endpoint. */
  userId: string | null;
  url: string;
  types: string[];
  description: string;
  /** Receives all users' events, as long as its owner is an admin. */
  allEvents: boolean;
  /** The unverified address of ADMIN_EMAILS by which its owner was an admin; else null. See `event-access.ts`. */
  allEventsByEmail: string | null;
  active: boolean;
  /** Why it is not active; null if it is. */
  disabledReason: string | null;
  createdAt: number;
  updatedAt: number;
}

/** The stored part of an endpoint's access to events. */
export type EventScope = Pick<Endpoint, "allEvents" | "allEventsByEmail">;

export interface NewEndpoint
  extends Pick<Endpoint, "url" | "types" | "description" | "allEvents" | "allEventsByEmail"> {
  userId: string;
}

export interface EndpointChanges extends Partial<Pick<Endpoint, "url" | "types" | "description" | "active">> {
  eventScope?: EventScope;
}

export interface Endpoints {
  /**
   * Returns the endpoint with its secret, which can't be read again. `extraStatements` are written in the same batch.
   * 409 `WEBHOOK_LIMIT` with `current` and `limit`.
   */
  create(
    endpoint: NewEndpoint,
    extraStatements: (created: Endpoint, secret: string) => Statement[],
  ): Promise<{ endpoint: Endpoint; secret: string }>;
  find(id: string): Promise<Endpoint | undefined>;
  /** Newest first. */
  list(userId: string): Promise<Endpoint[]>;
  /**
   * Switching off gives up pending deliveries; switching on starts with later events. Undefined if there is no such
   * endpoint.
   */
  update(id: string, changes: EndpointChanges): Promise<Endpoint | undefined>;
  remove(id: string): Promise<void>;
  /** Returns a new secret; previous ones sign for 24 hours more. Undefined if there is no such endpoint. */
  rotateSecret(id: string): Promise<string | undefined>;
  /** Opens the secrets of a row of `webhook_endpoints`. */
  targetOf(row: Row): DeliveryTarget;
}

interface Deps extends Pick<Kernel, "database" | "vault" | "config"> {
  audit: Pick<Kernel["audit"], "record">;
  now: () => number;
  /** Wakes the delivery, where an endpoint is created or switched on. */
  wakeStatement: (id: string) => Statement;
}

export function createEndpoints({ database, vault, config, audit, now, wakeStatement }: Deps): Endpoints {
  /** An entry of the audit log. The path of an address can be a secret, so only the host is named. */
  const audited = (action: string, { id, url }: Pick<Endpoint, "id" | "url">, details: Record<string, unknown> = {}) =>
    audit.record({ action: `webhook.${action}`, target: { kind: "webhook", id, name: new URL(url).host }, details });

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
          },
          guard("webhooks.limit"),
          wakeStatement(id),
          audited("create", endpoint, { types, allEvents }),
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
        });
        statements.push(wakeStatement(id));
      }
      const before = await find(id);
      if (!before) return undefined;
      const after = { url, types, description, active };
      const fields = Object.entries(after).flatMap(([field, value]) => (value === undefined ? [] : [field]));
      await database.write([
        ...statements,
        audited("update", { id, url: url ?? before.url }, { fields, ...(active !== undefined && { active }) }),
      ]);
      return find(id);
    },

    async remove(id) {
      const before = await find(id);
      if (!before) return;
      await database.write([
        { sql: "DELETE FROM webhook_endpoints WHERE id = ?", args: [id] },
        audited("delete", before),
      ]);
    },

    async rotateSecret(id) {
      for (;;) {
        const row = await findRow("SELECT url, secret, previous_secrets FROM webhook_endpoints WHERE id = ?", [id]);
        if (!row) return undefined;
        const secret = newSecret();
        const at = now();
        const previousSecrets = [{ secret: String(row.secret), until: at + DAY }, ...validPreviousSecrets(row, at)];
        const replace: Statement[] = [
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
          guard("webhooks.rotation"),
          audited("rotate", { id, url: String(row.url) }),
        ];
        try {
          await database.write(replace);
          return secret;
        } catch (error) {
          // A concurrent rotation has replaced the secret: repeat, so that its secret becomes a previous one.
          if (!(error instanceof GuardFailed)) throw error;
        }
      }
    },

    targetOf(row) {
      const id = String(row.id);
      if (id === OPERATOR_ENDPOINT_ID) return operatorTarget(config);
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
