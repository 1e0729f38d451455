// Makes the request of the form, as it is sent and as a line for curl.
import type { Entry } from "./api-document.ts";
import { pastedKey } from "./credential.ts";

export interface Draft {
  parameters: Record<string, string>;
  /** The text of the body; the file of a form. */
  body: string;
  bodyType: string | undefined;
  file: File | undefined;
  /** Whether the answer is wanted as server-sent events. */
  isStream: boolean;
}

export interface PreparedRequest {
  url: string;
  init: RequestInit;
}

/** The address with the parameters of the path and the query; empty ones of the query are left out. */
export function addressOf({ path, operation }: Entry, parameters: Record<string, string>): string {
  const inPath = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(parameters[name] ?? ""));
  const query = new URLSearchParams();
  for (const { name, in: place } of operation.parameters ?? []) {
    const value = parameters[name] ?? "";
    if (place === "query" && value !== "") query.set(name, value);
  }
  const text = query.toString();
  return text === "" ? inPath : `${inPath}?${text}`;
}

export function prepare(entry: Entry, draft: Draft): PreparedRequest {
  const headers = new Headers();
  for (const { name, in: place } of entry.operation.parameters ?? []) {
    const value = draft.parameters[name] ?? "";
    if (place === "header" && value !== "") headers.set(name, value);
  }
  const key = pastedKey();
  if (key !== "") headers.set("authorization", `Bearer ${key}`);
  if (draft.isStream) headers.set("accept", "text/event-stream");
  // A key decides alone; without one, the session cookie does.
  const init: RequestInit = { method: entry.method, headers, credentials: key === "" ? "same-origin" : "omit" };
  if (draft.bodyType === "multipart/form-data") {
    const form = new FormData();
    if (draft.file) form.set("file", draft.file);
    init.body = form;
  } else if (draft.bodyType !== undefined && draft.body.trim() !== "") {
    headers.set("content-type", draft.bodyType);
    init.body = draft.body;
  }
  return { url: addressOf(entry, draft.parameters), init };
}

/** The same request for a terminal. The key is not shown: it would be copied into places that keep it. */
export function curlOf(entry: Entry, draft: Draft): string {
  const { url, init } = prepare(entry, draft);
  const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
  const isGet = entry.method === "GET";
  const parts = [
    `curl ${draft.isStream ? "-N " : ""}${isGet ? "" : `-X ${entry.method} `}${quote(location.origin + url)}`,
  ];
  for (const [name, value] of new Headers(init.headers)) {
    parts.push(`-H ${name === "authorization" ? '"authorization: Bearer $BERTH_KEY"' : quote(`${name}: ${value}`)}`);
  }
  if (draft.file) parts.push(`-F ${quote(`file=@${draft.file.name}`)}`);
  else if (typeof init.body === "string") parts.push(`--data-raw ${quote(init.body)}`);
  return parts.join(" \\\n  ");
}
