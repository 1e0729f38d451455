// Writes the outcome of a program for the model, and its files as those of a tool.
import type { ToolFile } from "../skills/index.ts";
import type { OutputFile, RunOutcome } from "./runner/protocol.ts";

/** What was printed, then the value, the error, the names of written files, and `sent`: which of them were sent. */
export function resultText({ printed, value, error, files }: RunOutcome, sent = ""): string {
  const parts = [
    printed.trimEnd(),
    value === "" ? "" : `Returned: ${value}`,
    error === "" ? "" : `The program failed. ${error}`,
    files.length === 0 ? "" : `Wrote: ${files.map(inWords).join(", ")}. ${sent === "" ? NOT_SENT : ""}`.trimEnd(),
    sent,
  ].filter((part) => part !== "");
  return parts.join("\n\n") || "The program ended and printed nothing. Print with console.log, or return a value.";
}

const inWords = ({ name, bytes }: OutputFile) => `${name} (${bytes.length} bytes)`;
const NOT_SENT = "They were not sent: to send files to the person, name them in `send`.";

const MEDIA_TYPES = new Map([
  ["csv", "text/csv"],
  ["gif", "image/gif"],
  ["html", "text/html"],
  ["jpeg", "image/jpeg"],
  ["jpg", "image/jpeg"],
  ["json", "application/json"],
  ["md", "text/markdown"],
  ["pdf", "application/pdf"],
  ["png", "image/png"],
  ["svg", "image/svg+xml"],
  ["txt", "text/plain"],
  ["xml", "application/xml"],
]);

/** By the ending of the name. */
export const mediaTypeOf = (name: string): string =>
  MEDIA_TYPES.get(name.split(".").at(-1)?.toLowerCase() ?? "") ?? "application/octet-stream";

export const toToolFiles = (files: readonly OutputFile[]): ToolFile[] =>
  files.map(({ name, bytes }) => ({
    name,
    mediaType: mediaTypeOf(name),
    data: bytes.toBase64(),
  }));
