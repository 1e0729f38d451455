// Two-factor: codes of an authenticator app (TOTP, RFC 6238) and recovery codes, each good for one use.
import type { Row } from "@libsql/client";
import { and, eq, isNotNull, isNull, lt, type SQL, sql } from "drizzle-orm";
import { GuardFailed, guard, type Statement, statement } from "../../../src/database.ts";
import { AppError } from "../../../src/errors.ts";
import type { Kernel } from "../../../src/plugin.ts";
import { recoveryCodes, twoFactor, users as userRows } from "../schema.ts";
import type { Having, User, Users } from "../users.ts";

/** What an account sees once, when it begins. */
export interface Enrolment {
  /** Base32, for those who type it. */
  secret: string;
  /** `otpauth://totp/…`, for a QR code. */
  otpauthUrl: string;
  recoveryCodes: string[];
}

/** What somebody shows, and the address they come from. */
export interface ShownCode {
  code: unknown;
  from: string;
}

export interface TwoFactor {
  /** A new secret and recovery codes, in place of what was begun before. Nothing is asked for yet. 409 `TWO_FACTOR_ON`. */
  begin(user: User): Promise<Enrolment>;
  /** Turns it on with a first code. 400 `TWO_FACTOR_NOT_BEGUN` or `INVALID_CODE`, 409 `TWO_FACTOR_ON`. */
  confirm(user: User, code: string, also: Statement[]): Promise<void>;
  /** Turns it off with a code or a recovery code. 400 `TWO_FACTOR_OFF` or `INVALID_CODE`; 429 after too many wrong ones. */
  disable(user: User, shown: { code: string; from: string }, also: Statement[]): Promise<void>;
  /** Since when it is on (epoch ms); undefined while it is not. Told anew by each call. */
  since(userId: string): Promise<number | undefined>;
  /**
   * The second step of a sign-in; whether it is on. Passes where it is off, and for a code or a recovery code, which is used up. Else 401
   * `TOTP_REQUIRED` without a code, 401 `INVALID_TOTP` for a wrong one. Wrong ones of the app are counted by account and
   * address, and by account with three times the room: 429 after too many. Recovery codes are too long to be guessed: nobody
   * can keep the owner out who has one. Ask only whoever has shown the password, or what stands for it. `also` is written in
   * the same batch, only when it passes.
   */
  admit(userId: string, shown: ShownCode, also?: Statement[]): Promise<boolean>;
  /**
   * For a batch: takes it away, on or only begun, with its recovery codes, where nobody ever verified an address of the
   * account: a stranger may have turned it on. Else its owner did, and no address that the account got since gets around it.
   */
  dropUnowned(userId: string): Statement[];
  /** For a batch: takes it away with its recovery codes, with a guard `two-factor` against there being none. */
  drop(userId: string): Statement[];
}

const ISSUER = "Berth";
/** Seconds of one code, as every authenticator app takes them. */
const PERIOD = 30;
/** Codes before and after the present one that are taken too: clocks differ (RFC 6238 §5.2). */
const WINDOW = 1;
const RECOVERY_CODES = 10;
/** Crockford's base 32: none that look alike, and no words. */
const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";
/** Characters of a recovery code: 80 bits, too many to find by its hash. */
const RECOVERY_LENGTH = 16;

type Deps = Pick<Kernel, "database" | "vault" | "resealing" | "limits"> & { users: Pick<Users, "update"> };

export function createTwoFactor({ database, vault, resealing, limits, users }: Deps): TwoFactor {
  const { drizzle } = database;
  const place = (userId: string) => `user:${userId}:two-factor`;
  const placeOf = ({ user_id }: Row) => place(String(user_id));
  resealing.offer({ what: "second factors", table: "two_factor", names: ["user_id"], sealed: "secret", placeOf });
  const find = async (userId: string) =>
    (await drizzle.select().from(twoFactor).where(eq(twoFactor.userId, userId)))[0];

  /** The step whose code this is; undefined for none about now. */
  async function stepOf(userId: string, sealed: string, code: string): Promise<number | undefined> {
    if (!/^\d{6}$/.test(code)) return undefined;
    const { Secret, TOTP } = await import("otpauth");
    const totp = new TOTP({ secret: Secret.fromBase32(vault.open(sealed, place(userId))), period: PERIOD });
    const timestamp = Date.now();
    const delta = totp.validate({ token: code, timestamp, window: WINDOW });
    return delta === null ? undefined : Math.floor(timestamp / 1000 / PERIOD) + delta;
  }

  /** What uses a recovery code up, with a guard `code` against its second use. */
  function usingRecovery(userId: string, code: string): Statement[] {
    const same = and(eq(recoveryCodes.userId, userId), eq(recoveryCodes.codeHash, hashOf(userId, code)));
    return [statement(drizzle.delete(recoveryCodes).where(same)), guard("code")];
  }

  /** The same for a code of the app; undefined when it can't be one. */
  async function usingCode(userId: string, code: string): Promise<Statement[] | undefined> {
    const row = await find(userId);
    const step = row?.confirmedAt ? await stepOf(userId, row.secret, code) : undefined;
    if (!row || step === undefined) return undefined;
    const unused = and(eq(twoFactor.userId, userId), eq(twoFactor.secret, row.secret), lt(twoFactor.lastStep, step));
    return [statement(drizzle.update(twoFactor).set({ lastStep: step }).where(unused)), guard("code")];
  }

  /** Uses a code up together with what it is for. False, and nothing done, when it is wrong or was used. */
  async function useWith(userId: string, text: string, from: string, also: Statement[]): Promise<boolean> {
    const code = plain(text);
    if (code.length === RECOVERY_LENGTH) return holds("code", [...usingRecovery(userId, code), ...also]);
    const here = `two-factor ${userId}|${from}`;
    const anywhere = `two-factor ${userId}`;
    // Taken before and given back, or a crowd of guesses at once would all pass.
    limits.refuseWhenSpent("sign-in-ip", anywhere);
    await limits.require("sign-in", here);
    await limits.require("sign-in-ip", anywhere);
    const use = await usingCode(userId, code);
    if (!use || !(await holds("code", [...use, ...also]))) return false;
    limits.refund("sign-in", here);
    limits.refund("sign-in-ip", anywhere);
    return true;
  }

  /** Writes a batch; false when the guard of this name undid it. */
  async function holds(name: string, batch: Statement[]): Promise<boolean> {
    try {
      await database.write(batch);
      return true;
    } catch (error) {
      if (error instanceof GuardFailed && error.guard === name) return false;
      throw error;
    }
  }

  const since = async (userId: string) => (await find(userId))?.confirmedAt ?? undefined;
  const switched = (userId: string, on: boolean, having?: Having) =>
    users.update(userId, { twoFactorEnabled: on }, having);
  const withoutCodes = (userId: string, only?: SQL) =>
    statement(drizzle.delete(recoveryCodes).where(and(eq(recoveryCodes.userId, userId), only)));

  return {
    async begin({ id: userId, email }) {
      const { Secret, TOTP } = await import("otpauth");
      const totp = new TOTP({ issuer: ISSUER, label: email, secret: new Secret({ size: 20 }), period: PERIOD });
      const secret = totp.secret.base32;
      const codes = Array.from({ length: RECOVERY_CODES }, recoveryCode);
      const row = { secret: vault.seal(secret, place(userId)), confirmedAt: null, lastStep: 0, createdAt: Date.now() };
      const begun = drizzle
        .insert(twoFactor)
        .values({ userId, ...row })
        .onConflictDoUpdate({ target: twoFactor.userId, set: row, setWhere: isNull(twoFactor.confirmedAt) });
      const hashes = codes.map((code) => ({ userId, codeHash: hashOf(userId, code) }));
      const stored = await holds("off", [
        statement(begun),
        guard("off"),
        withoutCodes(userId),
        statement(drizzle.insert(recoveryCodes).values(hashes)),
      ]);
      if (!stored) throw alreadyOn();
      return { secret, otpauthUrl: totp.toString(), recoveryCodes: codes.map(grouped) };
    },

    async confirm({ id: userId }, code, also) {
      const row = await find(userId);
      if (!row) throw new AppError(400, "TWO_FACTOR_NOT_BEGUN", "Begin first: POST /api/settings/2fa.");
      if (row.confirmedAt !== null) throw alreadyOn();
      const step = await stepOf(userId, row.secret, plain(code));
      if (step === undefined) throw wrongCode();
      const same = and(eq(twoFactor.userId, userId), eq(twoFactor.secret, row.secret), isNull(twoFactor.confirmedAt));
      const on = drizzle.update(twoFactor).set({ confirmedAt: Date.now(), lastStep: step }).where(same);
      if (!(await holds("begun", [statement(on), guard("begun"), switched(userId, true), ...also]))) throw wrongCode();
    },

    async disable({ id: userId }, { code, from }, also) {
      const on = and(eq(twoFactor.userId, userId), isNotNull(twoFactor.confirmedAt));
      if (!(await since(userId))) throw new AppError(400, "TWO_FACTOR_OFF", "Two-factor is not on.");
      const gone = statement(drizzle.delete(twoFactor).where(on));
      const off = [gone, guard("code"), withoutCodes(userId), switched(userId, false)];
      if (!(await useWith(userId, code, from, [...off, ...also]))) throw wrongCode();
    },

    since,

    async admit(userId, { code, from }, also = []) {
      if (!(await since(userId))) {
        if (also.length > 0) await database.write(also);
        return false;
      }
      if (typeof code !== "string" || !code) {
        const text = "Give a code of your authenticator app, or a recovery code, as totp.";
        throw new AppError(401, "TOTP_REQUIRED", text);
      }
      if (!(await useWith(userId, code, from, also))) throw new AppError(401, "INVALID_TOTP", USELESS);
      return true;
    },

    drop: (userId) => [
      statement(drizzle.delete(twoFactor).where(eq(twoFactor.userId, userId))),
      guard("two-factor"),
      withoutCodes(userId),
      switched(userId, false),
    ],

    dropUnowned(userId) {
      const unowned = sql`(SELECT ${userRows.onceVerified} FROM ${userRows} WHERE ${userRows.id} = ${userId}) = 0`;
      return [
        statement(drizzle.delete(twoFactor).where(and(eq(twoFactor.userId, userId), unowned))),
        withoutCodes(userId, unowned),
        switched(userId, false, { onceVerified: false }),
      ];
    },
  };
}

/** Only the code is missing: whoever asked has guessed nothing wrong. */
export const isTotpRequired = (error: unknown) => error instanceof AppError && error.code === "TOTP_REQUIRED";

const alreadyOn = () => new AppError(409, "TWO_FACTOR_ON", "Two-factor is on. Turn it off first.");
const USELESS = "This code is wrong, too old, or was used already.";
const wrongCode = () => new AppError(400, "INVALID_CODE", USELESS);

const recoveryCode = () =>
  Array.from(crypto.getRandomValues(new Uint8Array(RECOVERY_LENGTH)), (byte) => ALPHABET[byte % 32]).join("");
/** As people type it: spaces, dashes, capitals, and letters that look like digits. */
const plain = (text: string) => text.replace(/[\s-]/g, "").toLowerCase().replaceAll("o", "0").replace(/[il]/g, "1");
/** As it is read: `abcd-efgh-jkmn-pqrs`. */
const grouped = (code: string) => code.replace(/(.{4})(?=.)/g, "$1-");
const hashOf = (userId: string, code: string) =>
  new Bun.CryptoHasher("sha256").update(`${userId}:${code}`).digest("hex");
