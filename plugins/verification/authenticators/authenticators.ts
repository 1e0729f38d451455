// Registers WebAuthn credentials and verifies assertions by them. A registered credential proves later that the same
// authenticator is present.
import { count, eq } from "drizzle-orm";
import { guard, type Statement } from "../../../src/kernel/database/database.ts";
import { AppError } from "../../../src/kernel/errors.ts";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import { type Ceremony, CHALLENGE_LIFETIME_MS, type Challenge } from "../challenges.ts";
import { webauthnCredentials as credentials } from "../schema.ts";
import { verificationFailed } from "../verification-failed.ts";
import { type AuthenticatorResponse, parseAuthenticatorResponse, parseClientData } from "./authenticator-response.ts";

/**
 * The result of a verified response. The statements abort with GuardFailed `credential` if a concurrent use was first.
 */
export interface AuthenticatorProof {
  metadata: Record<string, unknown>;
  statements: Statement[];
}

export interface Authenticators {
  /** `create` if the user has no credential yet or `registerAnother` is set, else `get`. */
  ceremonyFor(userId: string, registerAnother: boolean): Promise<Ceremony>;
  /** The options that a page passes to `navigator.credentials` for this challenge. */
  options(challenge: Challenge, user: { id: string; email: string; name: string }): Promise<object>;
  /**
   * Checks the response (JSON) to a challenge. Throws 400 for text that is not a response, and 400
   * `VERIFICATION_FAILED` with the check that failed. Writes nothing.
   */
  verify(challenge: Challenge, authenticatorResponse: string): Promise<AuthenticatorProof>;
}

type Credential = typeof credentials.$inferSelect;
type ResponseFor<Kind extends Ceremony> = Extract<AuthenticatorResponse, { ceremony: Kind }>;

/** Credentials of one user. */
const MAX_CREDENTIALS = 20;

// Large modules, loaded at the first verification by WebAuthn.
const loadServer = () => import("@simplewebauthn/server");
const loadHelpers = () => import("@simplewebauthn/server/helpers");

const toBase64Url = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64url");
const fromBase64Url = (text: string) => new Uint8Array(Buffer.from(text, "base64url"));

/** Deletes all credentials of this user. */
export const deleteCredentialsStatement = (userId: string): Statement => ({
  sql: "DELETE FROM webauthn_credentials WHERE user_id = ?",
  args: [userId],
});

export function createAuthenticators({ database, config }: Pick<Kernel, "database" | "config">): Authenticators {
  const db = database.drizzle;
  const { origin, hostname: rpID } = new URL(config.baseUrl);
  const listCredentials = (userId: string) => db.select().from(credentials).where(eq(credentials.userId, userId));

  /** Makes the checks that have their own messages. The library repeats them and makes all others. */
  async function requireMatchingResponse(
    challenge: Challenge,
    authenticatorResponse: AuthenticatorResponse,
    authData: Uint8Array<ArrayBuffer>,
  ) {
    const data = parseClientData(authenticatorResponse.response);
    if (data?.type !== `webauthn.${authenticatorResponse.ceremony}`)
      throw verificationFailed("The authenticator's response is to a different kind of request.");
    if (data.challenge !== challenge.nonce)
      throw verificationFailed("The authenticator answered another challenge, not the newest one.");
    if (data.origin !== origin)
      throw verificationFailed(`The request to the authenticator came from another page, not from one of ${origin}.`);
    if (data.crossOrigin === true)
      throw verificationFailed("The request to the authenticator came from inside a page of another site.");
    const { parseAuthenticatorData } = await loadHelpers();
    const parsed = parseAuthenticatorData(authData);
    const expectedRpIdHash = new Bun.CryptoHasher("sha256").update(rpID).digest();
    if (!expectedRpIdHash.equals(parsed.rpIdHash))
      throw verificationFailed(`The authenticator's credential is for another site, not for ${rpID}.`);
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
    // Berth requests no attestation. Certificates are refused, because the library would fetch addresses they name.
    const format = attestation.get("fmt");
    const hasCertificates = attestation.get("attStmt").get("x5c") !== undefined;
    if (hasCertificates || (format !== "none" && format !== "packed")) {
      throw verificationFailed(
        'Certificates of authenticators are not accepted. Register with the attestation "none".',
      );
    }
    const { registrationInfo: info } = await verifyRegistrationResponse({
      response: authenticatorResponse.response,
      expectedChallenge: challenge.nonce,
      expectedOrigin: origin,
      expectedRPID: rpID,
      requireUserVerification: false,
    });
    if (!info) throw verificationFailed("The authenticator's attestation signature is not valid.");
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
    if (!known) throw verificationFailed("This authenticator was not registered by you. Register it first.");
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
    if (!verified) throw verificationFailed("The authenticator's signature is not valid.");
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
        // The library throws for every failed check, with a message that quotes the input; it is not passed on.
        throw verificationFailed("The authenticator's response is not valid.");
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
