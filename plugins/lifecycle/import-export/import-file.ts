// Reads the bytes of an exported agent: decodes, parses and validates them, and converts them to rows as JSON text.
import { decodeBody, parseJson } from "../../../src/kernel/http/json-body.ts";
import { rawJsonMember } from "../../../src/kernel/util/json-text.ts";
import type { ImportedPages } from "../../runtime/index.ts";
import type { ExportedAgent } from "./export-format.ts";
import { requireExportedAgent, toImportRows } from "./import-rows.ts";

/** An exported agent as rows of a new one. Lists are JSON arrays, as text. */
export interface ImportFile extends Omit<ReturnType<typeof toImportRows>, "runtime"> {
  /** What is no list, and stays as it is. */
  head: Pick<ExportedAgent, "name" | "model"> & {
    [Key in "tier" | "responseCache" | "publicPage"]: ExportedAgent[Key];
  };
  /** JSON text, byte for byte. */
  config: string;
  sessions: string;
  pages: ImportedPages;
}

/** Characters of a page, which is one statement: a page is copied between threads at once. */
const PAGE_CHARACTERS = 512 * 1024;

/**
 * Throws 400 `INVALID_JSON`, `JSON_TOO_DEEP`, `INVALID_TEXT`, `UNKNOWN_FORMAT`, and 400 with the path of each issue.
 * @param platforms ids of the platforms that a session may be of
 */
export function readImportFile(bytes: Uint8Array, platforms: readonly string[]): ImportFile {
  const decoded = decodeBody(bytes);
  const text = decoded.trim() === "" ? "{}" : decoded;
  const exported = requireExportedAgent(parseJson(text), platforms);
  const { name, model, tier, responseCache, publicPage } = exported;
  const { runtime, ...rows } = toImportRows(exported);
  return {
    head: { name, model, tier, responseCache, publicPage },
    ...rows,
    config: rawJsonMember(text, "config") ?? "",
    sessions: JSON.stringify(runtime.sessions),
    pages: { messages: pagesOf(runtime.messages), entries: pagesOf(runtime.entries) },
  };
}

function pagesOf(rows: readonly object[]): string[] {
  const pages: string[] = [];
  let page: string[] = [];
  let characters = 0;
  for (const row of rows) {
    const text = JSON.stringify(row);
    page.push(text);
    characters += text.length;
    if (characters < PAGE_CHARACTERS) continue;
    pages.push(`[${page.join(",")}]`);
    [page, characters] = [[], 0];
  }
  return page.length > 0 ? [...pages, `[${page.join(",")}]`] : pages;
}
