// Signs a program in with a code that a person approves in the browser (OAuth 2.0 Device Authorization Grant, RFC 8628).
import type { DeviceCode, DeviceKey } from "./api-types.ts";
import { BerthError } from "./errors.ts";
import { delay, type Http, isTemporary } from "./http.ts";

export type Scope = "read" | "write" | "chat";

export interface DeviceSignIn {
  /** What the program calls itself, such as `backup script`: the person sees it, and it names the key. */
  name: string;
  /** The machine that it runs on. */
  device?: string;
  /** Default: all three. The person may grant fewer. */
  scopes?: Scope[];
  /** Shows the code and the address to the person. */
  onCode(code: DeviceCode): void;
  signal?: AbortSignal | undefined;
}

/** Resolves with an API key once the person has approved. Throws BerthError `ACCESS_DENIED` or `EXPIRED_TOKEN`. */
export async function signInWithDevice(
  http: Http,
  { name, device, scopes, onCode, signal }: DeviceSignIn,
): Promise<DeviceKey> {
  const body = new URLSearchParams({
    client_id: name,
    ...(device && { device_name: device }),
    ...(scopes && { scope: scopes.join(" ") }),
  });
  const code = await http.json<DeviceCode>("POST", "/api/auth/device", { body, signal });
  onCode(code);
  let seconds = code.interval;
  for (;;) {
    await delay(seconds * 1_000, signal);
    const grant = new URLSearchParams({
      grant_type: "urn:ietf:params:oauth:grant-type:device_code",
      device_code: code.device_code,
      client_id: name,
    });
    try {
      return await http.json<DeviceKey>("POST", "/api/auth/device/token", { body: grant, signal });
    } catch (error) {
      const reason = error instanceof BerthError ? error.code : "";
      // RFC 8628 §3.5: a further five seconds for all later requests.
      if (reason === "SLOW_DOWN") seconds += 5;
      else if (reason !== "AUTHORIZATION_PENDING" && !isTemporary(error)) throw error;
    }
  }
}
