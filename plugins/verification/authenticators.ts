// Authenticators (WebAuthn): a credential is registered once, and shows from then on that the same person is there.
import { count, eq } from "drizzle-orm";
import { guard, type Statement } from "../../src/kernel/database/database.ts";
import { AppError } from "../../src/kernel/errors.ts";
import type { Kernel } from "../../src/kernel/plugin.ts";
import { type AuthenticatorResponse, parseAuthenticatorResponse, parseClientData } from "./authenticator-response.ts";
import { type Ceremony, CHALLENGE_LIFETIME_MS, type Challenge } from "./challenges.ts";
import { webauthnCredentials as credentials } from "./schema.ts";
import { verificationFailed } from "./verification-failed.ts";

/** What an authenticator has shown, and what to write of it; GuardFailed `credential` when another was faster. */
export interface AuthenticatorProof {
  metadata: Record<string, unknown>;
  statements: Statement[];
}

export interface Authenticators {
  /** To register where the user has none yet, or another where that is wanted; else to show one. */
  ceremonyFor(userId: string, registerAnother: boolean): Promise<Ceremony>;
  /** What a page hands to `navigator.credentials` for this challenge. */
  options(challenge: Challenge, user: { id: string; email: string; name: string }): Promise<object>;
  /**
   * Checks the answer (JSON) to a challenge. Throws 400 for what is none, and 400 `VERIFICATION_FAILED` with which check
   * failed. Nothing is written.
   */
  verify(challenge: Challenge, authenticatorResponse: string): Promise<AuthenticatorProof>;
}

type Credential = typeof credentials.$inferSelect;
type ResponseFor<Kind extends Ceremony> = Extract<AuthenticatorResponse, { ceremony: Kind }>;

/** Of one user. Each costs whoever holds the session a new challenge. */
const MAX_CREDENTIALS = 20;

// Heavy: only for those who verify this way.
const loadServer = () => import("@simplewebauthn/server");
const loadHelpers = () => import("@simplewebauthn/server/helpers");

const toBase64Url = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64url");
const fromBase64Url = (text: string) => new Uint8Array(Buffer.from(text, "base64url"));

/** Takes all of them off this user. */
export const deleteCredentialsStatement = (userId: string): Statement => ({
  sql: "DELETE FROM webauthn_credentials WHERE user_id = ?",
  args: [userId],
});

export function createAuthenticators({ database, config }: Pick<Kernel, "database" | "config">): Authenticators {
  const db = database.drizzle;
  const { origin, hostname: rpID } = new URL(config.baseUrl);
  const listCredentials = (userId: string) => db.select().from(credentials).where(eq(credentials.userId, userId));

  /** The checks that have words of their own; the library makes them again, with all the others. */
  async function requireMatchingResponse(
    challenge: Challenge,
    authenticatorResponse: AuthenticatorResponse,
    authData: Uint8Array<ArrayBuffer>,
  ) {
    const data = parseClientData(authenticatorResponse.response);
    if (data?.type !== `webauthn.${authenticatorResponse.ceremony}`)
      throw verificationFailed("The authenticator was asked for something else.");
    if (data.challenge !== challenge.nonce)
      throw verificationFailed("The authenticator answered another challenge than the newest.");
    if (data.origin !== origin)
      throw verificationFailed(`The authenticator was asked by another page than one of ${origin}.`);
    if (data.crossOrigin === true)
      throw verificationFailed("The authenticator was asked from inside a page of another site.");
    const { parseAuthenticatorData } = await loadHelpers();
    const parsed = parseAuthenticatorData(authData);
    const expectedRpIdHash = new Bun.CryptoHasher("sha256").update(rpID).digest();
    if (!expectedRpIdHash.equals(parsed.rpIdHash))
      throw verificationFailed(`The authenticator's credential is for another site than ${rpID}.`);
    return parsed;
  }

  async function verifyRegistration(
    challenge: Challenge,
    authenticatorResponse: ResponseFor<"create">,
  ): Promise<AuthenticatorProof> {
    const [{ verifyRegistrationResponse }, { decodeAttestationObject }] = await Promise.all([
      loadServer(),
      loadHelpers(),
    ]);
    const attestation = decodeAttestationObject(
      fromBase64Url(authenticatorResponse.response.response.attestationObject),
    );
    await requireMatchingResponse(challenge, authenticatorResponse, attestation.get("authData"));
    // We ask for no attestation, so that certificates, which name addresses to be fetched, have no business here.
    const format = attestation.get("fmt");
    const hasCertificates = attestation.get("attStmt").get("x5c") !== undefined;
    if (hasCertificates || (format !== "none" && format !== "packed")) {
      throw verificationFailed('Certificates of authenticators are not read. Register with the attestation "none".');
    }
    const { registrationInfo: info } = await verifyRegistrationResponse({
      response: authenticatorResponse.response,
      expectedChallenge: challenge.nonce,
      expectedOrigin: origin,
      expectedRPID: rpID,
      requireUserVerification: false,
    });
    if (!info) throw verificationFailed("The authenticator's own signature does not hold.");
    const { id, publicKey, counter } = info.credential;
    const values = [
      id,
      challenge.userId,
      toBase64Url(publicKey),
      counter,
      JSON.stringify(authenticatorResponse.transports),
      Date.now(),
    ];
    const insert = {
      sql: `INSERT INTO webauthn_credentials (id, user_id, public_key, counter, transports, created_at)
        SELECT ?1, ?2, ?3, ?4, ?5, ?6 WHERE (SELECT count(*) FROM webauthn_credentials WHERE user_id = ?2) < ${MAX_CREDENTIALS}
        ON CONFLICT DO NOTHING`,
      args: values,
    };
    return { metadata: metadataOf(id, info), statements: [insert, guard("credential")] };
  }

  async function verifyAssertion(
    challenge: Challenge,
    authenticatorResponse: ResponseFor<"get">,
    all: Credential[],
  ): Promise<AuthenticatorProof> {
    const known = all.find(({ id }) => id === authenticatorResponse.response.id);
    if (!known) throw verificationFailed("This authenticator was not registered by you.");
    const { verifyAuthenticationResponse } = await loadServer();
    const { counter } = await requireMatchingResponse(
      challenge,
      authenticatorResponse,
      fromBase64Url(authenticatorResponse.response.response.authenticatorData),
    );
    if ((counter > 0 || known.counter > 0) && counter <= known.counter) {
      throw verificationFailed("The authenticator's counter went back: it may have been copied.");
    }
    const { verified, authenticationInfo: info } = await verifyAuthenticationResponse({
      response: authenticatorResponse.response,
      expectedChallenge: challenge.nonce,
      expectedOrigin: origin,
      expectedRPID: rpID,
      credential: { id: known.id, publicKey: fromBase64Url(known.publicKey), counter: known.counter },
      requireUserVerification: false,
    });
    if (!verified) throw verificationFailed("The authenticator's signature does not hold.");
    const update = {
      sql: "UPDATE webauthn_credentials SET counter = ?1 WHERE id = ?2 AND user_id = ?3 AND (counter < ?1 OR (counter = 0 AND ?1 = 0))",
      args: [info.newCounter, known.id, challenge.userId],
    };
    return { metadata: metadataOf(known.id, info), statements: [update, guard("credential")] };
  }

  return {
    async ceremonyFor(userId, registerAnother) {
      if (registerAnother) return "create";
      const [found] = await db.select({ known: count() }).from(credentials).where(eq(credentials.userId, userId));
      return found?.known ? "get" : "create";
    },

    async options({ nonce, ceremony }, user) {
      const { generateAuthenticationOptions, generateRegistrationOptions } = await loadServer();
      const known = (await listCredentials(user.id)).map(({ id, transports }) => ({
        id,
        transports: JSON.parse(transports),
      }));
      const commonOptions = { rpID, challenge: fromBase64Url(nonce), timeout: CHALLENGE_LIFETIME_MS };
      if (ceremony === "get") return generateAuthenticationOptions({ ...commonOptions, allowCredentials: known });
      return generateRegistrationOptions({
        ...commonOptions,
        rpName: "Berth",
        userID: new TextEncoder().encode(user.id),
        userName: user.email,
        userDisplayName: user.name,
        attestationType: "none",
        excludeCredentials: known,
      });
    },

    async verify(challenge, text) {
      const authenticatorResponse = parseAuthenticatorResponse(text);
      if (authenticatorResponse.ceremony !== challenge.ceremony) {
        throw verificationFailed(
          challenge.ceremony === "get"
            ? "The challenge asks for an authenticator that you have registered."
            : "The challenge asks for the registration of an authenticator.",
        );
      }
      const known = await listCredentials(challenge.userId);
      try {
        return await (authenticatorResponse.ceremony === "create"
          ? verifyRegistration(challenge, authenticatorResponse)
          : verifyAssertion(challenge, authenticatorResponse, known));
      } catch (error) {
        if (error instanceof AppError) throw error;
        // The library throws for whatever it does not find as it should be, in words that hold what was sent.
        throw verificationFailed("The authenticator's answer does not hold.");
      }
    },
  };
}

interface CredentialInfo {
  userVerified: boolean;
  credentialDeviceType: string;
  credentialBackedUp: boolean;
}

const metadataOf = (credentialId: string, info: CredentialInfo) => ({
  credentialId,
  userVerified: info.userVerified,
  deviceType: info.credentialDeviceType,
  backedUp: info.credentialBackedUp,
});
