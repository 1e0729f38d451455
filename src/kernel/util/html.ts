// HTML that Berth writes itself: escaping, templates, and answers with a strict content security policy.

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Text as it may stand in an element or a quoted attribute. */
export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (letter) => ENTITIES[letter] ?? "");

/** Replaces each `{{name}}` by its value as it is (escape it first); a name without a value becomes nothing. */
export const fillTemplate = (template: string, values: Readonly<Record<string, string>>): string =>
  template.replace(/\{\{(\w+)\}\}/g, (_, name: string) => values[name] ?? "");

export interface PagePolicy {
  /** Templates whose inline `<style>` and `<script>` elements may apply, known by their hashes. Never user content. */
  styles: string;
  /** Left out: the page runs no script. */
  scripts?: string | undefined;
  /** Sources that the script may fetch. */
  connect?: readonly string[];
  media?: readonly string[];
  /** Refuses every assignment of text to an HTML sink. Default: true. */
  trustedTypes?: boolean;
}

/** A policy (CSP level 3) that allows the page's own inline script and style by their hashes, and nothing else. */
export function contentPolicy({ styles, scripts, connect = [], media = [], trustedTypes = true }: PagePolicy): string {
  return [
    "default-src 'none'",
    `style-src ${hashesOf(styles, "style")}`,
    ...(scripts === undefined ? [] : [`script-src ${hashesOf(scripts, "script")}`]),
    ...(connect.length === 0 ? [] : [`connect-src ${connect.join(" ")}`]),
    ...(media.length === 0 ? [] : [`media-src ${media.join(" ")}`]),
    "img-src data:",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    ...(trustedTypes ? ["require-trusted-types-for 'script'", "trusted-types 'none'"] : []),
  ].join("; ");
}

const hashesOf = (template: string, element: "script" | "style") =>
  [...template.matchAll(new RegExp(`<${element}>(.*?)</${element}>`, "gs"))]
    .map(([, text = ""]) => `'sha256-${new Bun.CryptoHasher("sha256").update(text).digest("base64")}'`)
    .join(" ");

/** The headers of a page. Addresses of pages can hold tokens: no referrer is sent, and no cache keeps the answer. */
export const pageHeaders = (policy: string): Record<string, string> => ({
  "content-type": "text/html;charset=utf-8",
  "content-security-policy": policy,
  "referrer-policy": "no-referrer",
  "cache-control": "no-store",
});
