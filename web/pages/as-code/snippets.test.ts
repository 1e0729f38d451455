// The printed commands are run for real: a shell and Bun send what the page sent.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { asCurl, asTypeScript } from "./snippets.ts";

interface Received {
  method: string;
  url: string;
  authorization: string | null;
  type: string | undefined;
  body: unknown;
}

let folder: string;
let received: Received | undefined;
const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  async fetch(request) {
    const { pathname, search } = new URL(request.url);
    const isForm = request.headers.get("content-type")?.startsWith("multipart/");
    const text = isForm ? "" : await request.text();
    const file = isForm ? (await request.formData()).get("file") : null;
    received = {
      method: request.method,
      url: pathname + search,
      authorization: request.headers.get("authorization"),
      type: request.headers.get("content-type")?.split(";")[0],
      body:
        file instanceof Blob ? await file.text() : request.headers.has("content-type") && text ? parsed(text) : text,
    };
    const isStream = request.headers.get("accept") === "text/event-stream";
    return isStream
      ? new Response("event: reply\ndata: done\n\n", { headers: { "content-type": "text/event-stream" } })
      : Response.json({ done: true });
  },
});
const parsed = (text: string): unknown => (text.startsWith("{") ? JSON.parse(text) : text);

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "snippets-"));
  writeFileSync(join(folder, "FILE"), "the file");
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await server.stop(true);
});

async function run(command: string[]): Promise<Received | undefined> {
  received = undefined;
  const child = Bun.spawn(command, {
    cwd: folder,
    env: { PATH: process.env.PATH ?? "", BERTH_KEY: "bk_test" },
    stdout: "pipe",
    stderr: "pipe",
  });
  expect({ code: await child.exited, out: await new Response(child.stdout).text() }).toMatchObject({
    code: 0,
    out: expect.stringContaining("done"),
  });
  return received;
}

const TEXT = `it's "quoted", $HOME \`id\` !1 \\ \${x}\n☃ %0A @file`;
const REQUESTS = [
  { method: "GET", url: "/api/agents?query=%27%24x%27&limit=5" },
  { method: "PUT", url: "/api/agents/1/config", body: { instructions: TEXT, list: [1, null, { a: true }] } },
  { method: "DELETE", url: "/api/keys/1" },
  { method: "GET", url: "/api/agents/1/turns/2/events", stream: true as const },
  { method: "POST", url: "/api/chat", body: { message: "Hi" }, stream: true as const },
  { method: "POST", url: "/api/agents/1/uploads", file: { type: "multipart/form-data", field: "file" } },
  { method: "POST", url: "/api/agents/import", file: { type: "application/json" } },
];

describe.each(REQUESTS)("$method $url", (request) => {
  const expected = {
    method: request.method,
    url: request.url,
    authorization: "Bearer bk_test",
    type: request.file?.type ?? (request.body && "application/json"),
    body: request.body ?? (request.file === undefined ? "" : "the file"),
  };
  const origin = server.url.origin;

  test("as curl", async () => {
    expect(await run(["sh", "-c", asCurl(request, origin)])).toEqual(expected);
  });

  test("as TypeScript", async () => {
    writeFileSync(join(folder, "snippet.ts"), asTypeScript(request, origin));
    expect(await run([process.execPath, "snippet.ts"])).toEqual(expected);
  });
});
