// What an authenticator answered, as browsers write it down (WebAuthn Level 3, §5.1.8): read from text that anyone may send.
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from "@simplewebauthn/server";
import { invalidInput } from "../../src/kernel/errors.ts";
import type { Ceremony } from "./challenges.ts";

export type AuthenticatorResponse =
  | { ceremony: Extract<Ceremony, "create">; response: RegistrationResponseJSON; transports: string[] }
  | { ceremony: Extract<Ceremony, "get">; response: AuthenticationResponseJSON };

/** What it says it signed (§5.8.1). */
export interface ClientData {
  type: unknown;
  challenge: unknown;
  origin: unknown;
  crossOrigin: unknown;
}

const MAX_TRANSPORTS = 8;

/** Throws 400 for what is not the JSON of such an answer. Only what is read here goes on; whether it is true is seen later. */
export function parseAuthenticatorResponse(text: string): AuthenticatorResponse {
  const json = asObject(parse(text));
  const inner = asObject(json?.response);
  const { id, rawId, type } = json ?? {};
  const { clientDataJSON, attestationObject, authenticatorData, signature } = inner ?? {};
  if (isText(id) && isText(rawId) && type === "public-key" && isText(clientDataJSON)) {
    const credential = { id, rawId, type: "public-key" as const, clientExtensionResults: {} };
    if (isText(attestationObject)) {
      const response = { ...credential, response: { clientDataJSON, attestationObject } };
      return { ceremony: "create", response, transports: parseTransports(inner?.transports) };
    }
    if (isText(authenticatorData) && isText(signature)) {
      return {
        ceremony: "get",
        response: { ...credential, response: { clientDataJSON, authenticatorData, signature } },
      };
    }
  }
  throw invalidInput({ path: "signature", message: "This is not the JSON of an authenticator's answer." });
}

/** The client data of an answer; undefined for what can't be read. */
export function parseClientData({ response }: AuthenticatorResponse["response"]): ClientData | undefined {
  const data = asObject(parse(Buffer.from(response.clientDataJSON, "base64url").toString()));
  return data && { type: data.type, challenge: data.challenge, origin: data.origin, crossOrigin: data.crossOrigin };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const isText = (value: unknown): value is string => typeof value === "string" && value !== "";

const asObject = (value: unknown): Record<string, unknown> | undefined =>
  typeof value === "object" && value !== null ? { ...value } : undefined;

/** Hints on how to reach the authenticator again. */
const parseTransports = (json: unknown): string[] =>
  Array.isArray(json) ? json.filter((one) => isText(one) && /^[a-z-]{1,20}$/.test(one)).slice(0, MAX_TRANSPORTS) : [];
