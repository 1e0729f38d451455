// Reads the origins of sites that may show a public page in a frame, as their owners type them.

import { isLoopbackHost } from "../../src/kernel/config/config.ts";
import { invalidInput } from "../../src/kernel/errors.ts";

export const MAX_EMBED_ORIGINS = 20;
/** Written without a scheme, it is a site that is being tried out, which has no certificate. */
const ON_THIS_MACHINE = /^(?:localhost|127\.0\.0\.1)(?=[:/]|$)/i;

/**
 * Converts typed addresses into origins without repetitions. 400 for an address with a path, a user name or a wildcard, or
 * one that is not https; http is accepted for this machine, to try a page out. A policy can't name IPv6 addresses (CSP level
 * 3 §2.3.1).
 */
export function parseEmbedOrigins(texts: readonly string[]): string[] {
  return [...new Set(texts.map((text, at) => parseOrigin(text.trim(), `embedOrigins.${at}`)))];
}

function parseOrigin(text: string, path: string): string {
  const scheme = ON_THIS_MACHINE.test(text) ? "http" : "https";
  const withScheme = /^[a-z][a-z\d+.-]*:\/\//i.test(text) ? text : `${scheme}://${text}`;
  const url = URL.canParse(withScheme) ? new URL(withScheme) : undefined;
  const isPlain =
    url !== undefined &&
    url.pathname === "/" &&
    `${url.search}${url.hash}${url.username}${url.password}` === "" &&
    /^[a-z\d.-]+$/.test(url.hostname);
  if (!isPlain)
    throw invalidInput({ path, message: "This must be the address of a site, like https://www.example.com." });
  const isSafe = url.protocol === "https:" || (url.protocol === "http:" && isLoopbackHost(url.hostname));
  if (!isSafe)
    throw invalidInput({
      path,
      message: "Only sites with https can show the page, and for a trial those on localhost.",
    });
  return url.origin;
}
