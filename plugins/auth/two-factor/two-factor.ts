// Two-factor: codes of an authenticator app (TOTP, RFC 6238) and recovery codes, each good for one use.
import type { Row } from "@libsql/client";
import { and, eq, isNotNull, isNull, lt, type SQL, sql } from "drizzle-orm";
import { GuardFailed, guard, type Statement, statement } from "../../../src/kernel/database/database.ts";
import { AppError } from "../../../src/kernel/errors.ts";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import { sha256Hex } from "../../../src/kernel/util/tokens.ts";
import { recoveryCodes, twoFactor, users as userTable } from "../schema.ts";
import type { ExpectedUser, User, Users } from "../users.ts";

/** What an account sees once, when it begins. */
export interface Enrolment {
  /** Base32, for those who type it. */
  secret: string;
  /** `otpauth://totp/…`, for a QR code. */
  otpauthUrl: string;
  recoveryCodes: string[];
}

/** What somebody shows, and the address they come from. */
export interface PresentedCode {
  code: unknown;
  from: string;
}

export interface TwoFactor {
  /** A new secret and recovery codes, in place of what was begun before. Nothing is asked for yet. 409 `TWO_FACTOR_ON`. */
  beginEnrolment(user: User): Promise<Enrolment>;
  /** Turns it on with a first code. 400 `TWO_FACTOR_NOT_BEGUN` or `INVALID_CODE`, 409 `TWO_FACTOR_ON`. */
  confirmEnrolment(user: User, code: string, extraStatements: Statement[]): Promise<void>;
  /** Turns it off with a code or a recovery code. 400 `TWO_FACTOR_OFF` or `INVALID_CODE`; 429 after too many wrong ones. */
  disable(user: User, presented: { code: string; from: string }, extraStatements: Statement[]): Promise<void>;
  /** Since when it is on (epoch ms); undefined while it is not. Told anew by each call. */
  enabledSince(userId: string): Promise<number | undefined>;
  /**
   * The second step of a sign-in; whether it is on. Passes where it is off, and for a code or a recovery code, which is used up. Else 401
   * `TOTP_REQUIRED` without a code, 401 `INVALID_TOTP` for a wrong one. Wrong ones of the app are counted by account and
   * address, and by account with three times the room: 429 after too many. Recovery codes are too long to be guessed: nobody
   * can keep the owner out who has one. Ask only whoever has shown the password, or what stands for it. `also` is written in
   * the same batch, only when it passes.
   */
  verifyIfEnabled(userId: string, presented: PresentedCode, extraStatements?: Statement[]): Promise<boolean>;
  /**
   * For a batch: takes it away, on or only begun, with its recovery codes, where nobody ever verified an address of the
   * account: a stranger may have turned it on. Else its owner did, and no address that the account got since gets around it.
   */
  removeIfNeverVerifiedStatements(userId: string): Statement[];
  /** For a batch: takes it away with its recovery codes, with a guard `two-factor` against there being none. */
  removeStatements(userId: string): Statement[];
}

const ISSUER = "Berth";
/** Seconds of one code, as every authenticator app takes them. */
const PERIOD_SECONDS = 30;
/** Codes before and after the present one that are taken too: clocks differ (RFC 6238 §5.2). */
const WINDOW_STEPS = 1;
const RECOVERY_CODE_COUNT = 10;
/** Crockford's base 32: none that look alike, and no words. */
const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";
/** Characters of a recovery code: 80 bits, too many to find by its hash. */
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

  /** The step whose code this is; undefined for none about now. */
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

  /** What uses a recovery code up, with a guard `code` against its second use. */
  function useRecoveryCodeStatements(userId: string, code: string): Statement[] {
    const same = and(eq(recoveryCodes.userId, userId), eq(recoveryCodes.codeHash, hashOf(userId, code)));
    return [statement(drizzle.delete(recoveryCodes).where(same)), guard("code")];
  }

  /** The same for a code of the app; undefined when it can't be one. */
  async function useCodeStatements(userId: string, code: string): Promise<Statement[] | undefined> {
    const row = await find(userId);
    const step = row?.confirmedAt ? await matchingStep(userId, row.secret, code) : undefined;
    if (!row || step === undefined) return undefined;
    const unused = and(eq(twoFactor.userId, userId), eq(twoFactor.secret, row.secret), lt(twoFactor.lastStep, step));
    return [statement(drizzle.update(twoFactor).set({ lastStep: step }).where(unused)), guard("code")];
  }

  /** Uses a code up together with what it is for. False, and nothing done, when it is wrong or was used. */
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
    // Taken before and given back, or a crowd of guesses at once would all pass.
    limits.throwIfExhausted("sign-in-ip", accountKey);
    await limits.takeOrThrow("sign-in", addressKey);
    await limits.takeOrThrow("sign-in-ip", accountKey);
    const use = await useCodeStatements(userId, code);
    if (!use || !(await tryWrite("code", [...use, ...extraStatements]))) return false;
    limits.refund("sign-in", addressKey);
    limits.refund("sign-in-ip", accountKey);
    return true;
  }

  /** Writes a batch; false when the guard of this name undid it. */
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
      if (!row) throw new AppError(400, "TWO_FACTOR_NOT_BEGUN", "Begin first: POST /api/settings/2fa.");
      if (row.confirmedAt !== null) throw alreadyEnabled();
      const step = await matchingStep(userId, row.secret, normalizeCode(code));
      if (step === undefined) throw invalidCode();
      const same = and(eq(twoFactor.userId, userId), eq(twoFactor.secret, row.secret), isNull(twoFactor.confirmedAt));
      const on = drizzle.update(twoFactor).set({ confirmedAt: Date.now(), lastStep: step }).where(same);
      if (
        !(await tryWrite("begun", [
          statement(on),
          guard("begun"),
          setEnabledStatement(userId, true),
          ...extraStatements,
        ]))
      )
        throw invalidCode();
    },

    async disable({ id: userId }, { code, from }, extraStatements) {
      const on = and(eq(twoFactor.userId, userId), isNotNull(twoFactor.confirmedAt));
      if (!(await enabledSince(userId))) throw new AppError(400, "TWO_FACTOR_OFF", "Two-factor is not on.");
      const gone = statement(drizzle.delete(twoFactor).where(on));
      const off = [gone, guard("code"), deleteRecoveryCodesStatement(userId), setEnabledStatement(userId, false)];
      if (!(await tryUseCode(userId, code, from, [...off, ...extraStatements]))) throw invalidCode();
    },

    enabledSince,

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

/** Only the code is missing: whoever asked has guessed nothing wrong. */
export const isTotpRequired = (error: unknown) => error instanceof AppError && error.code === "TOTP_REQUIRED";

const alreadyEnabled = () => new AppError(409, "TWO_FACTOR_ON", "Two-factor is on. Turn it off first.");
const INVALID_CODE_MESSAGE = "This code is wrong, too old, or was used already.";
const invalidCode = () => new AppError(400, "INVALID_CODE", INVALID_CODE_MESSAGE);

const generateRecoveryCode = () =>
  Array.from(crypto.getRandomValues(new Uint8Array(RECOVERY_LENGTH)), (byte) => ALPHABET[byte % 32]).join("");
/** As people type it: spaces, dashes, capitals, and letters that look like digits. */
const normalizeCode = (text: string) =>
  text.replace(/[\s-]/g, "").toLowerCase().replaceAll("o", "0").replace(/[il]/g, "1");
/** As it is read: `abcd-efgh-jkmn-pqrs`. */
const formatRecoveryCode = (code: string) => code.replace(/(.{4})(?=.)/g, "$1-");
const hashOf = (userId: string, code: string) => sha256Hex(`${userId}:${code}`);
