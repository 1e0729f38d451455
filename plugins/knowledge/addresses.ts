// Reads addresses: only public ones, only if they have changed, and within the size of a file.
import { AppError, invalidInput } from "../../src/kernel/errors.ts";
import type { Kernel } from "../../src/kernel/plugin.ts";
import { DAY, HOUR, SECOND } from "../../src/kernel/util/time.ts";
import type { Refresh } from "./file-store.ts";

export const REFRESH_MS: Readonly<Record<Refresh, number>> = { hour: HOUR, day: DAY, week: 7 * DAY };
const TIMEOUT_MS = 30 * SECOND;

export interface FetchedFile {
  bytes: Uint8Array<ArrayBuffer>;
  type: string;
  etag: string | null;
  /** After redirects. */
  url: string;
}

/** @throws AppError 400 `INVALID_ADDRESS`, `ADDRESS_NOT_ALLOWED` */
export async function requireAddress(outbound: Pick<Kernel["outbound"], "check">, url: string): Promise<URL> {
  const parsed = URL.parse(url.trim());
  if (!parsed || !/^https?:$/.test(parsed.protocol)) {
    throw new AppError(400, "INVALID_ADDRESS", "This must be a web address, such as https://example.com/guide.");
  }
  if (parsed.username !== "" || parsed.password !== "") {
    throw invalidInput({ path: "url", message: "An address with a name and password is not kept. Leave them out." });
  }
  parsed.hash = "";
  await outbound.check(parsed.href);
  return parsed;
}

/**
 * The file at an address; undefined if it is the one with this `etag`.
 *
 * @throws AppError as `Outbound.fetch`; 422 `ADDRESS_REFUSED` for a status that no later try changes; 502 `UPSTREAM_FAILED`
 */
export async function fetchAddress(
  outbound: Pick<Kernel["outbound"], "fetch">,
  url: string,
  { etag, maxBytes, signal }: { etag: string | null; maxBytes: number; signal: AbortSignal },
): Promise<FetchedFile | undefined> {
  const response = await outbound.fetch(url, {
    signal,
    maxBytes,
    timeoutMs: TIMEOUT_MS,
    headers: {
      accept: "text/html,application/xhtml+xml,application/pdf,text/markdown,text/plain,text/csv;q=0.9,*/*;q=0.5",
      "accept-language": "en,*;q=0.5",
      "user-agent": "Mozilla/5.0 (compatible; Berth)",
      ...(etag !== null && { "if-none-match": etag }),
    },
  });
  if (response.status === 304 && etag !== null) return undefined;
  if (!response.ok) throw statusError(response.status);
  return {
    bytes: Uint8Array.from(response.bytes()),
    type: response.headers.get("content-type")?.slice(0, 200) ?? "",
    etag: response.headers.get("etag")?.slice(0, 500) ?? null,
    url: response.finalUrl,
  };
}

function statusError(status: number): AppError {
  const isLasting = status >= 400 && status < 500 && status !== 408 && status !== 425 && status !== 429;
  const text = `The address answered with status ${status}. Open it in a browser: it must lead to the file without a sign-in.`;
  return isLasting
    ? new AppError(422, "ADDRESS_REFUSED", text)
    : new AppError(502, "UPSTREAM_FAILED", `The address answered with status ${status}. It is tried again.`);
}

/** What a file from an address is called until it has a title. */
export const nameOfAddress = ({ host, pathname }: URL): string => {
  const last = pathname.split("/").findLast((part) => part !== "");
  return (last === undefined ? host : `${decode(last)} (${host})`).slice(0, 200).toWellFormed();
};

function decode(part: string): string {
  try {
    return decodeURIComponent(part).replace(/[\p{Cc}\p{Cf}]/gu, "");
  } catch {
    return part;
  }
}
