// Signs programs in with a code that a person approves in the browser (OAuth 2.0 Device Authorization Grant, RFC 8628).
// The result is an API key, which the owner sees and revokes like any other.
import type { Row } from "@libsql/client";
import { requireHere } from "../../../src/kernel/cells/cells.ts";
import { GuardFailed, guard, type Statement } from "../../../src/kernel/database/database.ts";
import { invalidInput, notFound } from "../../../src/kernel/errors.ts";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import { DAY, MINUTE, SECOND } from "../../../src/kernel/util/time.ts";
import { randomToken, sha256Hex } from "../../../src/kernel/util/tokens.ts";
import type { AccountAudit } from "../administration/account-audit.ts";
import { type ApiKeys, MAX_KEYS_PER_USER, SCOPES, type Scope, tooManyKeys } from "../api-keys/api-keys.ts";
import type { Mails } from "../mails/mails.ts";
import { includesFeature } from "../plans/features.ts";
import { planSettings } from "../settings.ts";
import type { Users } from "../users.ts";
import { findOpen, OPEN, takeRow } from "./device-cells.ts";
import { sweepDeviceSignInsStatement } from "./device-rows.ts";
import { createUserCode, normalizeUserCode } from "./user-code.ts";

/** A program that asks. Times are epoch ms. */
export interface DeviceSignIn {
  /** What the program calls itself and its machine; nobody vouches for either. */
  client: string;
  device: string;
  address: string;
  scopes: ReadonlySet<Scope>;
  createdAt: number;
  expiresAt: number;
}

export type NewDeviceSignIn = Pick<DeviceSignIn, "client" | "device" | "address" | "scopes"> & { direct: boolean };

/** The answer to a poll: the key, or why there is none (RFC 8628 §3.5). */
export type PollResult =
  | { key: string; scopes: ReadonlySet<Scope>; expiresInSeconds: number; email: string }
  | { error: "authorization_pending" | "slow_down" | "access_denied" | "expired_token" };

interface Decision {
  userId: string;
  scopes: ReadonlySet<Scope>;
  /** The session and the request came directly from this machine. */
  direct: boolean;
}

/** How long a person has to enter the code. */
export const CODE_MS = 10 * MINUTE;
/** Between two polls, and what each poll that comes too early adds (RFC 8628 §3.5). */
export const INTERVAL_SECONDS = 5;
/** The program polls every few seconds, so an approval that is not picked up soon was given to a program that is gone. */
const APPROVED_MS = 2 * MINUTE;
/** A poll that was under way may arrive a little earlier than it was sent. */
const LEEWAY_MS = SECOND;
const KEY_LIFETIME_MS = 90 * DAY;

interface Deps extends Pick<Kernel, "database" | "config" | "cells"> {
  keys: Pick<ApiKeys, "create" | "listByUser">;
  users: Pick<Users, "byId">;
  mails: Pick<Mails, "apiKeyCreatedStatements">;
  auditStatement: AccountAudit;
}

export type DeviceSignIns = ReturnType<typeof createDeviceSignIns>;

export function createDeviceSignIns({ database, config, cells, keys, users, mails, auditStatement }: Deps) {
  const { table } = config.of(planSettings);
  /** Counts a poll, and lengthens the interval if it came too early. Whether it did. */
  async function isTooEarly(row: Row, now: number): Promise<boolean> {
    const isEarly = Number(row.polled_at ?? 0) + Number(row.interval_seconds) * SECOND - LEEWAY_MS > now;
    await database.write([
      {
        sql: "UPDATE device_sign_ins SET polled_at = ?, interval_seconds = interval_seconds + ? WHERE device_hash = ?",
        args: [now, isEarly ? INTERVAL_SECONDS : 0, row.device_hash ?? null],
      },
    ]);
    return isEarly;
  }

  const deleteStatement = (deviceHash: string): Statement => ({
    sql: "DELETE FROM device_sign_ins WHERE device_hash = ?",
    args: [deviceHash],
  });

  /** Makes the key in the write that deletes the row, so that one approval makes one key. */
  async function handOut(row: Row): Promise<PollResult> {
    const user = await users.byId(String(row.user_id));
    if (!user || !includesFeature(table, user, "apiKeys")) return { error: "access_denied" };
    const scopes = readScopes(row.scopes);
    const expiresAt = Date.now() + KEY_LIFETIME_MS;
    const name = keyName(toSignIn(row));
    try {
      const { key } = await keys.create(
        { userId: user.id, name, scopes, direct: row.direct === 1, expiresAt },
        (apiKey) => [
          deleteStatement(String(row.device_hash)),
          guard("device-code"),
          ...mails.apiKeyCreatedStatements(user, apiKey.name),
          auditStatement(user, "key-create", { key: apiKey.id, name, scopes: [...scopes].join(" ") }),
        ],
      );
      return { key, scopes, expiresInSeconds: KEY_LIFETIME_MS / SECOND, email: user.email };
    } catch (error) {
      if (error instanceof GuardFailed && error.guard === "device-code") return { error: "expired_token" };
      throw error;
    }
  }

  return {
    /** Begins a sign-in; resolves with the code of the program and that of the person. */
    async begin({ client, device, address, scopes, direct }: NewDeviceSignIn) {
      const now = Date.now();
      const [deviceCode, userCode] = [`bdc_${randomToken()}`, createUserCode()];
      const sorted = SCOPES.filter((scope) => scopes.has(scope));
      await database.write([
        sweepDeviceSignInsStatement(),
        {
          sql: `INSERT INTO device_sign_ins (device_hash, user_hash, client, device, address, direct, scopes, created_at, expires_at,
            interval_seconds) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
          args: [sha256Hex(deviceCode), sha256Hex(userCode), client, device, address, direct ? 1 : 0].concat(
            JSON.stringify(sorted),
            now,
            now + CODE_MS,
            INTERVAL_SECONDS,
          ),
        },
      ]);
      return { deviceCode, userCode };
    },

    /** The answer to a program that asks whether it has been approved. */
    async poll(deviceCode: string, client: string): Promise<PollResult> {
      const now = Date.now();
      const sql = "SELECT * FROM device_sign_ins WHERE device_hash = ? AND expires_at > ?";
      const [row] = (await database.read(sql, [sha256Hex(deviceCode), now])).rows;
      if (!row || row.client !== client) return { error: "expired_token" };
      if (row.cell !== null) requireHere(cells, Number(row.cell));
      if (row.state === "denied") {
        await database.write([deleteStatement(String(row.device_hash))]);
        return { error: "access_denied" };
      }
      if (await isTooEarly(row, now)) return { error: "slow_down" };
      return row.state === "approved" ? handOut(row) : { error: "authorization_pending" };
    },

    find,

    /** Approves with these scopes, of which only those that were asked for count. Throws 404 `CODE_NOT_FOUND`, 409 `TOO_MANY_KEYS`. */
    async approve(typed: string, { userId, scopes, direct }: Decision): Promise<void> {
      const found = await find(typed);
      const asked = found.scopes;
      const granted = SCOPES.filter((scope) => asked.has(scope) && scopes.has(scope));
      if (granted.length === 0)
        throw invalidInput({ path: "scopes", message: "Allow one thing at least that the program asks for." });
      if ((await keys.listByUser(userId)).length >= MAX_KEYS_PER_USER) throw tooManyKeys();
      const now = Date.now();
      const userHash = sha256Hex(normalizeUserCode(typed));
      await takeRow({ database, cells }, userHash);
      const approval = {
        sql: `UPDATE device_sign_ins SET state = 'approved', user_id = ?3, scopes = ?4, direct = direct * ?5, expires_at = ?6
          WHERE ${OPEN}`,
        args: [userHash, now, userId, JSON.stringify(granted), direct ? 1 : 0, now + APPROVED_MS],
      };
      const details = { name: keyName(found), scopes: granted.join(" ") };
      await settle(approval, await decisionStatements(userId, "device-approve", details));
    },

    /** Throws 404 `CODE_NOT_FOUND`. */
    async deny(typed: string, userId: string): Promise<void> {
      const userHash = sha256Hex(normalizeUserCode(typed));
      await takeRow({ database, cells }, userHash);
      const denial = {
        sql: `UPDATE device_sign_ins SET state = 'denied' WHERE ${OPEN}`,
        args: [userHash, Date.now()],
      };
      await settle(denial, await decisionStatements(userId, "device-deny", {}));
    },
  };

  async function decisionStatements(userId: string, action: "device-approve" | "device-deny", details: object) {
    const user = await users.byId(userId);
    return user ? [auditStatement(user, action, { ...details })] : [];
  }

  /** What the code asks for. Throws 404 `CODE_NOT_FOUND`. */
  async function find(typed: string): Promise<DeviceSignIn> {
    const row = await findOpen({ database, cells }, sha256Hex(normalizeUserCode(typed)));
    if (!row) throw codeNotFound();
    return toSignIn(row);
  }

  /** A code is decided about once. */
  async function settle(update: Statement, audited: readonly Statement[]): Promise<void> {
    try {
      await database.write([update, guard("open-code"), ...audited]);
    } catch (error) {
      throw error instanceof GuardFailed ? codeNotFound() : error;
    }
  }
}

const codeNotFound = () =>
  notFound(
    "No program waits with this code. Codes work once, for ten minutes: compare it, or begin again.",
    "CODE_NOT_FOUND",
  );

/** The name of the key in the owner's list. */
export const keyName = ({ client, device }: Pick<DeviceSignIn, "client" | "device">) =>
  device === "" ? client : `${client} on ${device}`;

export const readScopes = (json: unknown): ReadonlySet<Scope> => {
  const texts: unknown = JSON.parse(String(json));
  return new Set(SCOPES.filter((scope) => Array.isArray(texts) && texts.includes(scope)));
};

const toSignIn = (row: Row): DeviceSignIn => ({
  client: String(row.client),
  device: String(row.device),
  address: String(row.address),
  scopes: readScopes(row.scopes),
  createdAt: Number(row.created_at),
  expiresAt: Number(row.expires_at),
});
