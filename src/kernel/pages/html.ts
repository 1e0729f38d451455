// Escapes text for HTML, fills templates, and makes the headers of pages with a strict content security policy.

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Escapes text for an element or a quoted attribute. */
export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (letter) => ENTITIES[letter] ?? "");

/** Replaces each `{{name}}` by its value, which must be escaped; a name without a value is removed. */
export const fillTemplate = (template: string, values: Readonly<Record<string, string>>): string =>
  template.replace(/\{\{(\w+)\}\}/g, (_, name: string) => values[name] ?? "");

export interface PagePolicy {
  /** Templates whose inline `<style>` elements are allowed, by their hashes. Never user content. */
  styles: string;
  /** Likewise for `<script>` elements. Left out: no script is allowed. */
  scripts?: string | undefined;
  /** Addresses of further scripts. */
  scriptFiles?: readonly string[];
  /** Sources that the script may fetch. */
  connect?: readonly string[];
  media?: readonly string[];
  /** Origins whose pages may show this page in a frame. */
  frameAncestors?: readonly string[];
  /** Whether assigning text to an HTML sink is forbidden. Default: true. */
  trustedTypes?: boolean;
}

/** Makes a policy (CSP level 3) that allows inline scripts and styles by their hashes, and the given sources. */
export function contentPolicy(page: PagePolicy): string {
  const {
    styles,
    scripts,
    scriptFiles = [],
    connect = [],
    media = [],
    frameAncestors = [],
    trustedTypes = true,
  } = page;
  return [
    "default-src 'none'",
    `style-src ${hashesOf(styles, "style")}`,
    ...(scripts === undefined ? [] : [`script-src ${[hashesOf(scripts, "script"), ...scriptFiles].join(" ")}`]),
    ...(connect.length === 0 ? [] : [`connect-src ${connect.join(" ")}`]),
    ...(media.length === 0 ? [] : [`media-src ${media.join(" ")}`]),
    "img-src data:",
    "form-action 'none'",
    `frame-ancestors ${frameAncestors.length === 0 ? "'none'" : frameAncestors.join(" ")}`,
    "base-uri 'none'",
    ...(trustedTypes ? ["require-trusted-types-for 'script'", "trusted-types 'none'"] : []),
  ].join("; ");
}

const hashesOf = (template: string, element: "script" | "style") =>
  [...template.matchAll(new RegExp(`<${element}>(.*?)</${element}>`, "gs"))]
    .map(([, text = ""]) => `'sha256-${new Bun.CryptoHasher("sha256").update(text).digest("base64")}'`)
    .join(" ");

/**
 * Makes the headers of a page. Its URL can hold a token, so no referrer is sent and no cache stores the page. The page may
 * depend on what the client accepts.
 */
export const pageHeaders = (policy: string): Record<string, string> => ({
  "content-type": "text/html;charset=utf-8",
  "content-security-policy": policy,
  "referrer-policy": "no-referrer",
  "cache-control": "no-store",
  vary: "accept, accept-language",
});
