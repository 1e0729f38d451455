// Authenticators (WebAuthn): a credential is registered once, and shows from then on that the same person is there.
import { count, eq } from "drizzle-orm";
import { guard, type Statement } from "../../src/database.ts";
import { AppError } from "../../src/errors.ts";
import type { Kernel } from "../../src/plugin.ts";
import { type AuthenticatorAnswer, clientDataOf, readAnswer } from "./authenticator.ts";
import { type Ceremony, CHALLENGE_LIFETIME, type Challenge } from "./challenges.ts";
import { refused } from "./refused.ts";
import { webauthnCredentials as credentials } from "./schema.ts";

/** What an authenticator has shown, and what to write of it; GuardFailed `credential` when another was faster. */
export interface Shown {
  metadata: Record<string, unknown>;
  statements: Statement[];
}

export interface Authenticators {
  /** To register where the user has none yet, or another where that is wanted; else to show one. */
  ceremonyFor(userId: string, another: boolean): Promise<Ceremony>;
  /** What a page hands to `navigator.credentials` for this challenge. */
  options(challenge: Challenge, user: { id: string; email: string; name: string }): Promise<object>;
  /**
   * Checks the answer (JSON) to a challenge. Throws 400 for what is none, and 400 `VERIFICATION_FAILED` with which check
   * failed. Nothing is written.
   */
  check(challenge: Challenge, answer: string): Promise<Shown>;
}

type Credential = typeof credentials.$inferSelect;
type Of<Kind extends Ceremony> = Extract<AuthenticatorAnswer, { ceremony: Kind }>;

/** Of one user. Each costs whoever holds the session a new challenge. */
const MAX_CREDENTIALS = 20;

// Heavy: only for those who verify this way.
const library = () => import("@simplewebauthn/server");
const parsers = () => import("@simplewebauthn/server/helpers");

const toText = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64url");
const toBytes = (text: string) => new Uint8Array(Buffer.from(text, "base64url"));

/** Takes all of them off this user. */
export const forgetAuthenticators = (userId: string): Statement => ({
  sql: "DELETE FROM webauthn_credentials WHERE user_id = ?",
  args: [userId],
});

export function createAuthenticators({ database, config }: Pick<Kernel, "database" | "config">): Authenticators {
  const db = database.drizzle;
  const { origin, hostname: rpID } = new URL(config.baseUrl);
  const of = (userId: string) => db.select().from(credentials).where(eq(credentials.userId, userId));

  /** The checks that have words of their own; the library makes them again, with all the others. */
  async function requireOurs(challenge: Challenge, answer: AuthenticatorAnswer, authData: Uint8Array<ArrayBuffer>) {
    const data = clientDataOf(answer.response);
    if (data?.type !== `webauthn.${answer.ceremony}`) throw refused("The authenticator was asked for something else.");
    if (data.challenge !== challenge.nonce)
      throw refused("The authenticator answered another challenge than the newest.");
    if (data.origin !== origin) throw refused(`The authenticator was asked by another page than one of ${origin}.`);
    if (data.crossOrigin === true) throw refused("The authenticator was asked from inside a page of another site.");
    const { parseAuthenticatorData } = await parsers();
    const parsed = parseAuthenticatorData(authData);
    const own = new Bun.CryptoHasher("sha256").update(rpID).digest();
    if (!own.equals(parsed.rpIdHash)) throw refused(`The authenticator's credential is for another site than ${rpID}.`);
    return parsed;
  }

  async function checkNew(challenge: Challenge, answer: Of<"create">): Promise<Shown> {
    const [{ verifyRegistrationResponse }, { decodeAttestationObject }] = await Promise.all([library(), parsers()]);
    const attestation = decodeAttestationObject(toBytes(answer.response.response.attestationObject));
    await requireOurs(challenge, answer, attestation.get("authData"));
    // We ask for no attestation, so that certificates, which name addresses to be fetched, have no business here.
    const format = attestation.get("fmt");
    const certified = attestation.get("attStmt").get("x5c") !== undefined;
    if (certified || (format !== "none" && format !== "packed")) {
      throw refused('Certificates of authenticators are not read. Register with the attestation "none".');
    }
    const { registrationInfo: info } = await verifyRegistrationResponse({
      response: answer.response,
      expectedChallenge: challenge.nonce,
      expectedOrigin: origin,
      expectedRPID: rpID,
      requireUserVerification: false,
    });
    if (!info) throw refused("The authenticator's own signature does not hold.");
    const { id, publicKey, counter } = info.credential;
    const values = [id, challenge.userId, toText(publicKey), counter, JSON.stringify(answer.transports), Date.now()];
    const insert = {
      sql: `INSERT INTO webauthn_credentials (id, user_id, public_key, counter, transports, created_at)
        SELECT ?1, ?2, ?3, ?4, ?5, ?6 WHERE (SELECT count(*) FROM webauthn_credentials WHERE user_id = ?2) < ${MAX_CREDENTIALS}
        ON CONFLICT DO NOTHING`,
      args: values,
    };
    return { metadata: metadataOf(id, info), statements: [insert, guard("credential")] };
  }

  async function checkKnown(challenge: Challenge, answer: Of<"get">, all: Credential[]): Promise<Shown> {
    const known = all.find(({ id }) => id === answer.response.id);
    if (!known) throw refused("This authenticator was not registered by you.");
    const { verifyAuthenticationResponse } = await library();
    const { counter } = await requireOurs(challenge, answer, toBytes(answer.response.response.authenticatorData));
    if ((counter > 0 || known.counter > 0) && counter <= known.counter) {
      throw refused("The authenticator's counter went back: it may have been copied.");
    }
    const { verified, authenticationInfo: info } = await verifyAuthenticationResponse({
      response: answer.response,
      expectedChallenge: challenge.nonce,
      expectedOrigin: origin,
      expectedRPID: rpID,
      credential: { id: known.id, publicKey: toBytes(known.publicKey), counter: known.counter },
      requireUserVerification: false,
    });
    if (!verified) throw refused("The authenticator's signature does not hold.");
    const update = {
      sql: "UPDATE webauthn_credentials SET counter = ?1 WHERE id = ?2 AND user_id = ?3 AND (counter < ?1 OR (counter = 0 AND ?1 = 0))",
      args: [info.newCounter, known.id, challenge.userId],
    };
    return { metadata: metadataOf(known.id, info), statements: [update, guard("credential")] };
  }

  return {
    async ceremonyFor(userId, another) {
      if (another) return "create";
      const [found] = await db.select({ known: count() }).from(credentials).where(eq(credentials.userId, userId));
      return found?.known ? "get" : "create";
    },

    async options({ nonce, ceremony }, user) {
      const { generateAuthenticationOptions, generateRegistrationOptions } = await library();
      const known = (await of(user.id)).map(({ id, transports }) => ({ id, transports: JSON.parse(transports) }));
      const asked = { rpID, challenge: toBytes(nonce), timeout: CHALLENGE_LIFETIME };
      if (ceremony === "get") return generateAuthenticationOptions({ ...asked, allowCredentials: known });
      return generateRegistrationOptions({
        ...asked,
        rpName: "Berth",
        userID: new TextEncoder().encode(user.id),
        userName: user.email,
        userDisplayName: user.name,
        attestationType: "none",
        excludeCredentials: known,
      });
    },

    async check(challenge, text) {
      const answer = readAnswer(text);
      if (answer.ceremony !== challenge.ceremony) {
        throw refused(
          challenge.ceremony === "get"
            ? "The challenge asks for an authenticator that you have registered."
            : "The challenge asks for the registration of an authenticator.",
        );
      }
      const known = await of(challenge.userId);
      try {
        return await (answer.ceremony === "create"
          ? checkNew(challenge, answer)
          : checkKnown(challenge, answer, known));
      } catch (error) {
        if (error instanceof AppError) throw error;
        // The library throws for whatever it does not find as it should be, in words that hold what was sent.
        throw refused("The authenticator's answer does not hold.");
      }
    },
  };
}

interface Info {
  userVerified: boolean;
  credentialDeviceType: string;
  credentialBackedUp: boolean;
}

const metadataOf = (credentialId: string, info: Info) => ({
  credentialId,
  userVerified: info.userVerified,
  deviceType: info.credentialDeviceType,
  backedUp: info.credentialBackedUp,
});
