// Sends every operation of the API documents with headers that no client should send, and finds answers that are not documented.
import { type OpenApiDocument, type Operation, operationName } from "../../src/kernel/http/openapi/document.ts";
import type { Berth } from "./berth.ts";
import { createClient } from "./client.ts";
import { member, provision } from "./members.ts";

const BODY = { "content-type": "application/json" };
const ACCEPTS: Record<string, Record<string, string>> = {
  "Accept: image/png": { ...BODY, accept: "image/png" },
  "an Accept that can't be read": { ...BODY, accept: ";;," },
};
const TYPES: Record<string, Record<string, string>> = {
  "Content-Type: application/xml": { "content-type": "application/xml" },
  "a Content-Type that can't be read": { "content-type": "/" },
};
/** Bodies where `{}` would be refused before the headers are looked at. */
const BODIES: Record<string, object> = { "POST /mcp": { jsonrpc: "2.0", id: 1, method: "tools/list" } };
/** What deletes comes last, so that the others find something. */
const METHODS = ["get", "post", "put", "patch", "delete"];
/** It takes away what the others are sent with. */
const LAST = "DELETE /api/keys/current";
const AT_ONCE = 8;
const MS = 10_000;

/** "POST /mcp (web) with Accept: image/png: 406": one line for each answer that its operation does not name. Also counts the requests. */
export async function undocumentedAnswers(berth: Berth): Promise<{ found: string[]; sent: number }> {
  const owner = await member(berth, "enterprise");
  const { id } = await provision(owner);
  const found: string[] = [];
  let sent = 0;
  for (const side of ["web", "backend"] as const) {
    const { body } = await owner.post<{ key: string }>("/api/keys", { name: side, scopes: ["read", "write", "chat"] });
    const { body: document } = await createClient(berth[side]).get<OpenApiDocument>("/swagger/json");
    const operations = Object.entries(document.paths)
      .flatMap(([path, methods]) =>
        Object.entries(methods).map(([method, one]) => ({ name: operationName(method, path), path, method, one })),
      )
      .filter(({ one }) => !one.responses?.[101]);
    const check = async ({ name, path, method, one }: (typeof operations)[number]): Promise<void> => {
      const address = berth[side] + path.replace("{id}", id).replace(/\{\w+\}/g, "x");
      const text = method === "get" ? null : JSON.stringify(BODIES[name] ?? {});
      const tried = Object.entries(method === "get" ? ACCEPTS : { ...ACCEPTS, ...TYPES });
      const answers = tried.map(async ([what, headers]) => {
        const status = await statusOf(address, method, { ...headers, authorization: `Bearer ${body.key}` }, text);
        sent++;
        if (!isDocumented(one, status)) found.push(`${name} (${side}) with ${what}: ${status}`);
      });
      await Promise.all(answers);
    };
    for (const group of [...METHODS, LAST]) {
      const ofGroup = operations.filter(({ name, method }) => group === (name === LAST ? LAST : method));
      for (let at = 0; at < ofGroup.length; at += AT_ONCE)
        await Promise.all(ofGroup.slice(at, at + AT_ONCE).map(check));
    }
  }
  return { found, sent };
}

/** A stream is left after its head. */
async function statusOf(
  address: string,
  method: string,
  headers: Record<string, string>,
  body: string | null,
): Promise<number> {
  const left = new AbortController();
  const signal = AbortSignal.any([left.signal, AbortSignal.timeout(MS)]);
  const { status } = await fetch(address, { method: method.toUpperCase(), headers, body, redirect: "manual", signal });
  left.abort();
  return status;
}

const isDocumented = ({ responses = {} }: Operation, status: number) => responses[status] !== undefined;
