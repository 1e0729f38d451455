// Reads the bytes of an exported agent: decodes, parses and validates them, and converts them to rows as JSON text.
import { decodeBody, parseJson } from "../../../src/kernel/http/body/json-body.ts";
import { rawJsonMember } from "../../../src/kernel/util/json-text.ts";
import type { ImportedPages } from "../../runtime/index.ts";
import type { TakeoverFormat } from "../takeover/draft.ts";
import { withJsonAdvice } from "../takeover/file-errors.ts";
import type { ReportRow } from "../takeover/report.ts";
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
  /** For a file of another program. */
  takeover?: TakenOver;
}

/** What was taken over from another program beside the agent's rows, and what became of each part. */
export interface TakenOver {
  format: TakeoverFormat;
  /** SHA-256 of the file. */
  digest: string;
  rows: ReportRow[];
  /** The member `channels` of the configuration, as JSON; undefined if there are no allow lists. */
  channels: string | undefined;
  skills: { name: string; zip: Uint8Array }[];
}

/** Characters of a page, which is one statement: a page is copied between threads at once. */
const PAGE_CHARACTERS = 512 * 1024;

/**
 * Throws 400 `INVALID_JSON`, `JSON_TOO_DEEP`, `INVALID_TEXT`, `UNKNOWN_FORMAT`, and 400 with the path of each issue.
 * @param platforms ids of the platforms that a session may be of
 * @param readOther reads the JSON of another program; without it, only exported agents are read
 */
export function readImportFile(
  bytes: Uint8Array,
  platforms: readonly string[],
  readOther?: (value: unknown) => ImportFile,
): ImportFile {
  const { text, value } = withJsonAdvice(() => {
    const decoded = decodeBody(bytes);
    const text = decoded.trim() === "" ? "{}" : decoded;
    return { text, value: parseJson(text) };
  });
  if (readOther && !hasFormat(value)) return readOther(value);
  return toImportFile(requireExportedAgent(value, platforms), rawJsonMember(text, "config") ?? "");
}

/** @param config the exported configuration as JSON text */
export function toImportFile(exported: ExportedAgent, config: string): ImportFile {
  const { name, model, tier, responseCache, publicPage } = exported;
  const { runtime, ...rows } = toImportRows(exported);
  return {
    head: { name, model, tier, responseCache, publicPage },
    ...rows,
    config,
    sessions: JSON.stringify(runtime.sessions),
    pages: { messages: pagesOf(runtime.messages), entries: pagesOf(runtime.entries) },
  };
}

/** Whether the file says of itself what it is, as exported agents do. */
const hasFormat = (value: unknown) => typeof value === "object" && value !== null && Object.hasOwn(value, "format");

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
