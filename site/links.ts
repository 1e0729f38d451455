// Finds out where the links of a page lead: to a page of the site, to a file beside the pages, or to a file of the source.

import { posix } from "node:path";
import { nameOf } from "./pages.ts";

export type Target =
  /** An address with a scheme, or an address of the service such as /swagger. */
  | { kind: "elsewhere" }
  /** A page of the site. `anchor` has no `#`; empty if there is none. */
  | { kind: "page"; path: string; name: string; anchor: string }
  /** A picture under docs/ or a file for monitoring, which are part of the site. */
  | { kind: "asset"; path: string }
  /** A file of the project that the site doesn't show. */
  | { kind: "source"; path: string };

const SCHEME = /^[a-z][a-z0-9+.-]*:/i;

/** Returns the target of a link on the page `from`; both paths are relative to the project. */
export function targetOf(from: string, href: string): Target {
  if (SCHEME.test(href) || href.startsWith("/")) return { kind: "elsewhere" };
  const [file = "", anchor = ""] = href.split("#");
  const path = file === "" ? from : posix.join(posix.dirname(from), decodeURIComponent(file)).replace(/\/$/, "");
  const page = path === "docs/decisions" ? "docs/decisions/README.md" : path;
  // The project's own README leads to the documentation; on the site both are its first page.
  const name = page === "README.md" ? "index" : nameOf(page);
  if (name !== undefined) return { kind: "page", path: page, name, anchor };
  return /^docs\/(?:.+\.(?:svg|png)|monitoring\/.+)$/.test(path) ? { kind: "asset", path } : { kind: "source", path };
}
