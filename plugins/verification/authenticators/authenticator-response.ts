// Parses an authenticator's response, in the JSON form of browsers (WebAuthn Level 3, §5.1.8), from untrusted text.
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from "@simplewebauthn/server";
import { invalidInput } from "../../../src/kernel/errors.ts";
import type { Ceremony } from "../challenges.ts";

export type AuthenticatorResponse =
  | { ceremony: Extract<Ceremony, "create">; response: RegistrationResponseJSON; transports: string[] }
  | { ceremony: Extract<Ceremony, "get">; response: AuthenticationResponseJSON };

/** The client data that the authenticator signed (WebAuthn Level 3, §5.8.1), unchecked. */
export interface ClientData {
  type: unknown;
  challenge: unknown;
  origin: unknown;
  crossOrigin: unknown;
}

const MAX_TRANSPORTS = 8;

/** Throws 400 for text that is not the JSON of a response. Keeps known fields only; signatures are verified later. */
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
  throw invalidInput({ path: "signature", message: "This is not the JSON of an authenticator's response." });
}

/** The client data of a response; undefined if it is not a JSON object. */
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

/** The known forms of transport hints; a browser uses them to reach the authenticator in a later request. */
const parseTransports = (json: unknown): string[] =>
  Array.isArray(json) ? json.filter((one) => isText(one) && /^[a-z-]{1,20}$/.test(one)).slice(0, MAX_TRANSPORTS) : [];
