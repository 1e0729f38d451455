// Decides to which addresses a browser may be sent back with a code: those that the client has named.
import { isLoopbackHost } from "../../../src/kernel/config/config.ts";

const MAX_LENGTH = 2_000;
/** Schemes that a browser handles itself: a script, local data, or something that is no program. */
const REFUSED_SCHEMES = new Set([
  ...["about:", "blob:", "chrome:", "data:", "file:", "filesystem:", "ftp:", "intent:", "javascript:"],
  ...["mailto:", "resource:", "sms:", "tel:", "vbscript:", "view-source:", "ws:", "wss:"],
]);

/**
 * Whether a client may name this address: https, http on the person's own machine, or a scheme of a program of theirs
 * (RFC 8252 §7). It has no fragment, since the code is put into the query.
 */
export function isRedirectUri(text: unknown): text is string {
  if (typeof text !== "string" || text.length > MAX_LENGTH || text.includes("#")) return false;
  const url = URL.parse(text);
  if (url === null || REFUSED_SCHEMES.has(url.protocol)) return false;
  if (url.username !== "" || url.password !== "") return false;
  if (url.protocol === "http:") return isLoopbackHost(url.hostname);
  return true;
}

/** Whether one of the named addresses is this one. On the person's own machine the port is free (RFC 8252 §7.3). */
export function isNamed(wanted: string, named: readonly string[]): boolean {
  if (!isRedirectUri(wanted)) return false;
  return named.some((one) => one === wanted || (isLocal(one) && isLocal(wanted) && portless(one) === portless(wanted)));
}

function isLocal(text: string): boolean {
  const url = URL.parse(text);
  return url?.protocol === "http:" && isLoopbackHost(url.hostname);
}

function portless(text: string): string {
  const url = new URL(text);
  url.port = "";
  return url.href;
}

/** Where a browser goes, in words for the person who decides; the person's own computer for a local program. */
export function hostOf(redirectUri: string): { host: string; isLocal: boolean } {
  const url = new URL(redirectUri);
  const isWeb = url.protocol === "https:" || url.protocol === "http:";
  if (!isWeb) return { host: url.protocol.slice(0, -1), isLocal: true };
  return { host: url.host, isLocal: isLoopbackHost(url.hostname) };
}
