// Two-factor authentication with codes of an authenticator app (TOTP, RFC 6238) and recovery codes. Each code works
// once.
import type { Row } from "@libsql/client";
import { and, eq, isNotNull, isNull, lt, type SQL, sql } from "drizzle-orm";
import { GuardFailed, guard, type Statement, statement } from "../../../src/kernel/database/database.ts";
import { AppError } from "../../../src/kernel/errors.ts";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import { sha256Hex } from "../../../src/kernel/util/tokens.ts";
import { recoveryCodes, twoFactor, users as userTable } from "../schema.ts";
import type { ExpectedUser, User, Users } from "../users.ts";

/** The secrets of an enrolment, shown only once. */
export interface Enrolment {
  /** Base32, to be typed into an app. */
  secret: string;
  /** `otpauth://totp/…`, for a QR code. */
  otpauthUrl: string;
  recoveryCodes: string[];
}

/** A code, unvalidated, and the client's address. */
export interface PresentedCode {
  code: unknown;
  from: string;
}

export interface TwoFactor {
  /**
   * Creates a secret and recovery codes, replacing an unconfirmed enrolment; two-factor stays off. Throws 409
   * `TWO_FACTOR_ON`.
   */
  beginEnrolment(user: User): Promise<Enrolment>;
  /**
   * Turns two-factor on with a first code. Throws 400 `TWO_FACTOR_NOT_BEGUN` or `INVALID_CODE`, and 409
   * `TWO_FACTOR_ON`.
   */
  confirmEnrolment(user: User, code: string, extraStatements: Statement[]): Promise<void>;
  /**
   * Turns two-factor off with either kind of code. Throws 400 `TWO_FACTOR_OFF` or `INVALID_CODE`; 429 past the limit of
   * wrong ones.
   */
  disable(user: User, presented: { code: string; from: string }, extraStatements: Statement[]): Promise<void>;
  /** When two-factor was turned on (epoch ms); undefined if it is off. Read from the database at each call. */
  enabledSince(userId: string): Promise<number | undefined>;
  /** How many recovery codes are left. */
  countRecoveryCodes(userId: string): Promise<number>;
  /**
   * The second step of a sign-in; resolves with whether two-factor is on. Passes if it is off, or for a valid code,
   * which is consumed. Else throws 401 `TOTP_REQUIRED` without a code, 401 `INVALID_TOTP` for a wrong one. Wrong codes
   * of the app are limited by account and address, and by account with three times the limit (429). Recovery codes are
   * too long to guess and not limited, so that an attacker can't lock out an owner who has one. Call it only after the
   * first factor was checked. `extraStatements` join the batch, and are written only if the check passes.
   */
  verifyIfEnabled(userId: string, presented: PresentedCode, extraStatements?: Statement[]): Promise<boolean>;
  /**
   * For a batch: removes two-factor, confirmed or not, with its recovery codes, if no address of the account was ever
   * verified, since a stranger may have turned it on. Otherwise the owner did, and a new address must not bypass it.
   */
  removeIfNeverVerifiedStatements(userId: string): Statement[];
  /** For a batch: removes two-factor with its recovery codes; aborts with GuardFailed `two-factor` if there is none. */
  removeStatements(userId: string): Statement[];
}

const ISSUER = "Berth";
/** Seconds that a code is valid; the value that all authenticator apps support. */
const PERIOD_SECONDS = 30;
/** Codes before and after the current one that are accepted, since clocks differ (RFC 6238 §5.2). */
const WINDOW_STEPS = 1;
const RECOVERY_CODE_COUNT = 10;
/** Crockford's base 32, without letters that look like others. */
const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";
/** Characters of a recovery code: 80 bits, too many for a search of the stored hashes. */
const RECOVERY_LENGTH = 16;

type Deps = Pick<Kernel, "database" | "vault" | "keyRotation" | "limits"> & { users: Pick<Users, "updateStatement"> };

export function createTwoFactor({ database, vault, keyRotation, limits, users }: Deps): TwoFactor {
  const { drizzle } = database;
  const sealContext = (userId: string) => `user:${userId}:two-factor`;
  const sealContextOfRow = ({ user_id }: Row) => sealContext(String(user_id));
  keyRotation.registerColumn({
    label: "second factors",
    table: "two_factor",
    keyColumns: ["user_id"],
    sealed: "secret",
    sealContext: sealContextOfRow,
  });
  const find = async (userId: string) =>
    (await drizzle.select().from(twoFactor).where(eq(twoFactor.userId, userId)))[0];

  /** The time step that the code belongs to; undefined if it matches no step of the window. */
  async function matchingStep(userId: string, sealed: string, code: string): Promise<number | undefined> {
    if (!/^\d{6}$/.test(code)) return undefined;
    const { Secret, TOTP } = await import("otpauth");
    const totp = new TOTP({
      secret: Secret.fromBase32(vault.open(sealed, sealContext(userId))),
      period: PERIOD_SECONDS,
    });
    const timestamp = Date.now();
    const delta = totp.validate({ token: code, timestamp, window: WINDOW_STEPS });
    return delta === null ? undefined : Math.floor(timestamp / 1000 / PERIOD_SECONDS) + delta;
  }

  /** Deletes a recovery code; aborts with GuardFailed `code` if it does not exist or was used. */
  function useRecoveryCodeStatements(userId: string, code: string): Statement[] {
    const same = and(eq(recoveryCodes.userId, userId), eq(recoveryCodes.codeHash, hashOf(userId, code)));
    return [statement(drizzle.delete(recoveryCodes).where(same)), guard("code")];
  }

  /** Marks the step of an app code as used; aborts with GuardFailed `code` on reuse. Undefined for a wrong code. */
  async function useCodeStatements(userId: string, code: string): Promise<Statement[] | undefined> {
    const row = await find(userId);
    const step = row?.confirmedAt ? await matchingStep(userId, row.secret, code) : undefined;
    if (!row || step === undefined) return undefined;
    const unused = and(eq(twoFactor.userId, userId), eq(twoFactor.secret, row.secret), lt(twoFactor.lastStep, step));
    return [statement(drizzle.update(twoFactor).set({ lastStep: step }).where(unused)), guard("code")];
  }

  /** Consumes a code in one batch with `extraStatements`. False, with nothing written, if it is wrong or was used. */
  async function tryUseCode(
    userId: string,
    text: string,
    from: string,
    extraStatements: Statement[],
  ): Promise<boolean> {
    const code = normalizeCode(text);
    if (code.length === RECOVERY_LENGTH)
      return tryWrite("code", [...useRecoveryCodeStatements(userId, code), ...extraStatements]);
    const addressKey = `two-factor ${userId}|${from}`;
    const accountKey = `two-factor ${userId}`;
    // Counted before the check and refunded after it: else concurrent guesses would all pass the limit.
    limits.throwIfExhausted("sign-in-ip", accountKey);
    await limits.takeOrThrow("sign-in", addressKey);
    await limits.takeOrThrow("sign-in-ip", accountKey);
    const use = await useCodeStatements(userId, code);
    if (!use || !(await tryWrite("code", [...use, ...extraStatements]))) return false;
    limits.refund("sign-in", addressKey);
    limits.refund("sign-in-ip", accountKey);
    return true;
  }

  /** Writes a batch; false if the guard of this name aborted it. */
  async function tryWrite(name: string, statements: Statement[]): Promise<boolean> {
    try {
      await database.write(statements);
      return true;
    } catch (error) {
      if (error instanceof GuardFailed && error.guard === name) return false;
      throw error;
    }
  }

  const enabledSince = async (userId: string) => (await find(userId))?.confirmedAt ?? undefined;
  const setEnabledStatement = (userId: string, on: boolean, expected?: ExpectedUser) =>
    users.updateStatement(userId, { twoFactorEnabled: on }, expected);
  const deleteRecoveryCodesStatement = (userId: string, condition?: SQL) =>
    statement(drizzle.delete(recoveryCodes).where(and(eq(recoveryCodes.userId, userId), condition)));

  return {
    async beginEnrolment({ id: userId, email }) {
      const { Secret, TOTP } = await import("otpauth");
      const totp = new TOTP({ issuer: ISSUER, label: email, secret: new Secret({ size: 20 }), period: PERIOD_SECONDS });
      const secret = totp.secret.base32;
      const codes = Array.from({ length: RECOVERY_CODE_COUNT }, generateRecoveryCode);
      const row = {
        secret: vault.seal(secret, sealContext(userId)),
        confirmedAt: null,
        lastStep: 0,
        createdAt: Date.now(),
      };
      const upsert = drizzle
        .insert(twoFactor)
        .values({ userId, ...row })
        .onConflictDoUpdate({ target: twoFactor.userId, set: row, setWhere: isNull(twoFactor.confirmedAt) });
      const hashes = codes.map((code) => ({ userId, codeHash: hashOf(userId, code) }));
      const stored = await tryWrite("off", [
        statement(upsert),
        guard("off"),
        deleteRecoveryCodesStatement(userId),
        statement(drizzle.insert(recoveryCodes).values(hashes)),
      ]);
      if (!stored) throw alreadyEnabled();
      return { secret, otpauthUrl: totp.toString(), recoveryCodes: codes.map(formatRecoveryCode) };
    },

    async confirmEnrolment({ id: userId }, code, extraStatements) {
      const row = await find(userId);
      if (!row)
        throw new AppError(
          400,
          "TWO_FACTOR_NOT_BEGUN",
          "Two-factor setup was not started. Start it with POST /api/settings/2fa.",
        );
      if (row.confirmedAt !== null) throw alreadyEnabled();
      const step = await matchingStep(userId, row.secret, normalizeCode(code));
      if (step === undefined) throw invalidCode();
      const same = and(eq(twoFactor.userId, userId), eq(twoFactor.secret, row.secret), isNull(twoFactor.confirmedAt));
      const on = drizzle.update(twoFactor).set({ confirmedAt: Date.now(), lastStep: step }).where(same);
      const statements = [statement(on), guard("begun"), setEnabledStatement(userId, true), ...extraStatements];
      if (!(await tryWrite("begun", statements))) throw invalidCode();
    },

    async disable({ id: userId }, { code, from }, extraStatements) {
      const on = and(eq(twoFactor.userId, userId), isNotNull(twoFactor.confirmedAt));
      if (!(await enabledSince(userId))) throw new AppError(400, "TWO_FACTOR_OFF", "Two-factor is not on.");
      const gone = statement(drizzle.delete(twoFactor).where(on));
      const off = [gone, guard("code"), deleteRecoveryCodesStatement(userId), setEnabledStatement(userId, false)];
      if (!(await tryUseCode(userId, code, from, [...off, ...extraStatements]))) throw invalidCode();
    },

    enabledSince,
    countRecoveryCodes: (userId) => drizzle.$count(recoveryCodes, eq(recoveryCodes.userId, userId)),

    async verifyIfEnabled(userId, { code, from }, extraStatements = []) {
      if (!(await enabledSince(userId))) {
        if (extraStatements.length > 0) await database.write(extraStatements);
        return false;
      }
      if (typeof code !== "string" || !code) {
        const text = "Give a code of your authenticator app, or a recovery code, as totp.";
        throw new AppError(401, "TOTP_REQUIRED", text);
      }
      if (!(await tryUseCode(userId, code, from, extraStatements)))
        throw new AppError(401, "INVALID_TOTP", INVALID_CODE_MESSAGE);
      return true;
    },

    removeStatements: (userId) => [
      statement(drizzle.delete(twoFactor).where(eq(twoFactor.userId, userId))),
      guard("two-factor"),
      deleteRecoveryCodesStatement(userId),
      setEnabledStatement(userId, false),
    ],

    removeIfNeverVerifiedStatements(userId) {
      const neverVerified = sql`(SELECT ${userTable.onceVerified} FROM ${userTable} WHERE ${userTable.id} = ${userId}) = 0`;
      return [
        statement(drizzle.delete(twoFactor).where(and(eq(twoFactor.userId, userId), neverVerified))),
        deleteRecoveryCodesStatement(userId, neverVerified),
        setEnabledStatement(userId, false, { onceVerified: false }),
      ];
    },
  };
}

/** The code is missing, which is no failed attempt. */
export const isTotpRequired = (error: unknown) => error instanceof AppError && error.code === "TOTP_REQUIRED";

const alreadyEnabled = () => new AppError(409, "TWO_FACTOR_ON", "Two-factor is already on. Turn it off first.");
const INVALID_CODE_MESSAGE = "This code is wrong, has expired, or was used already.";
const invalidCode = () => new AppError(400, "INVALID_CODE", INVALID_CODE_MESSAGE);

const generateRecoveryCode = () =>
  Array.from(crypto.getRandomValues(new Uint8Array(RECOVERY_LENGTH)), (byte) => ALPHABET[byte % 32]).join("");
/** Accepts spaces, dashes, capitals, and letters that look like digits. */
const normalizeCode = (text: string) =>
  text.replace(/[\s-]/g, "").toLowerCase().replaceAll("o", "0").replace(/[il]/g, "1");
/** For display: `abcd-efgh-jkmn-pqrs`. */
const formatRecoveryCode = (code: string) => code.replace(/(.{4})(?=.)/g, "$1-");
const hashOf = (userId: string, code: string) => sha256Hex(`${userId}:${code}`);
