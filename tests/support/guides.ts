// Reads the guides of docs/ to which the API documents lead.

import { join } from "node:path";
import { slugOf } from "../../site/markdown.ts";

/** The Markdown of a page, or of its section if the name has an anchor: `operating#backups`. Empty if there is none. */
export async function guideAt(name: string): Promise<string> {
  const [page = "", anchor] = name.split("#");
  const text = await Bun.file(join(import.meta.dir, `../../docs/${page}.md`)).text();
  if (anchor === undefined) return text;
  return text.split(/^## /m).find((section) => slugOf(section.split("\n")[0] ?? "") === anchor) ?? "";
}

/** Matches a path as guides write it: `/api/agents/:id/stream`, `/api/agents/{id}/stream`, `$BASE/api/agents/$AGENT/stream`. */
export const pathPattern = (path: string): RegExp =>
  new RegExp(
    `${path
      .split(/\{[^}]+\}/)
      .map(RegExp.escape)
      .join('[^\\s/`"]+')}(?![\\w/-])`,
  );
