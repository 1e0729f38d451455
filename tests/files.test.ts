// Tests files of agents on the whole binary: reading survives kills, and works with the two roles as two processes.

import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { type Berth, startBerth } from "./support/berth.ts";
import type { Client } from "./support/client.ts";
import { docxOf, pdfOf } from "./support/documents.ts";
import { eventually, seeded } from "./support/eventually.ts";
import { member, provision } from "./support/members.ts";
import { type Sqld, startSqld } from "./support/sqld.ts";

interface FileItem {
  id: string;
  name: string;
  status: string;
  chunks: number;
  progress: { written: number };
}

const KILLS = 12;

/** Sends a file; returns its id. */
async function send(
  berth: Pick<Berth, "web">,
  owner: Client,
  agentId: string,
  content: string | Uint8Array<ArrayBuffer>,
  name: string,
) {
  const body = new FormData();
  body.set("file", new File([content], name));
  const sent = await fetch(`${berth.web}/api/agents/${agentId}/files`, {
    method: "POST",
    body,
    headers: { cookie: owner.cookie },
  });
  if (sent.status !== 202) throw new Error(`${name} was refused: ${sent.status} ${await sent.text()}`);
  return ((await sent.json()) as { file: FileItem }).file.id;
}
const listOf = async (owner: Client, agentId: string) =>
  (await owner.get<{ files: FileItem[] }>(`/api/agents/${agentId}/files?limit=100`)).body.files;

describe("kills while files are read", () => {
  let berth: Berth;
  let ada: Client;
  let agentId: string;
  beforeAll(async () => {
    berth = await startBerth({ env: { RATE_LIMITS: "off" } });
    ada = await member(berth, "enterprise");
    ({ id: agentId } = await provision(ada, "Harbour"));
  });
  afterAll(() => berth?.[Symbol.asyncDispose]());

  test(`lose no accepted file and double no passage, ${KILLS} times`, async () => {
    const { next } = seeded(7);
    const accepted: { id: string; passages: number }[] = [];
    for (let kill = 0; kill < KILLS; kill++) {
      const passages = 50 + Math.floor(next() * 400);
      const text = Array.from({ length: passages }, (_, n) => `Kill ${kill}, passage ${n}. ${"tea ".repeat(225)}`).join(
        "\n\n",
      );
      accepted.push({ id: await send(berth, ada, agentId, text, `book-${kill}.txt`), passages });
      const wanted = Math.floor(next() * passages);
      // Somewhere in the reading: before it, in it, or just after it.
      await eventually(async () => {
        const file = (await listOf(ada, agentId)).find(({ name }) => name === `book-${kill}.txt`);
        return file?.status === "ready" || (file?.progress.written ?? 0) >= Math.min(wanted, 100) || next() < 0.1;
      });
      await berth.kill();
      await berth.restart({ keepPorts: true });
    }
    const files = await eventually(
      async () => {
        const list = await listOf(ada, agentId);
        return list.length === KILLS && list.every(({ status }) => status === "ready") ? list : undefined;
      },
      { timeoutMs: 90_000, everyMs: 200 },
    );
    expect(files.map(({ id, chunks }) => [id, chunks]).sort()).toEqual(
      accepted.map(({ id, passages }) => [id, passages]).sort(),
    );
    await berth.stop();
    const database = new Database(join(berth.dir, "data", "berth.db"), { readonly: true });
    const rows = database
      .query("SELECT count(*) AS rows, count(DISTINCT file_id || ':' || text) AS texts FROM knowledge_chunks")
      .get();
    const total = accepted.reduce((sum, { passages }) => sum + passages, 0);
    expect(rows).toEqual({ rows: total, texts: total });
    expect(database.query("SELECT count(*) AS n FROM knowledge_search").get()).toEqual({ n: total });
    database.close();
  });
});

describe("two processes over a database server", () => {
  let sqld: Sqld;
  let web: Berth;
  let backend: Berth;
  let ada: Client;
  beforeAll(async () => {
    sqld = await startSqld();
    const shared = { DATABASE_URL: sqld.url, SECRET_KEY: "a secret key for tests of files alone", RATE_LIMITS: "off" };
    backend = await startBerth({ env: { ...shared, ROLE: "backend" } });
    web = await startBerth({ env: { ...shared, ROLE: "web", BACKEND_URL: backend.backend } });
    ada = await member(web, "enterprise");
  });
  afterAll(async () => {
    await web?.[Symbol.asyncDispose]();
    await backend?.[Symbol.asyncDispose]();
    await sqld?.stop();
  });

  test("a PDF and a DOCX are sent to the web, read by the backend, and found", async () => {
    const { id } = await provision(ada, "Harbour");
    await send(web, ada, id, pdfOf(["Cover", "Green tea needs eighty degrees."]), "tea.pdf");
    await send(web, ada, id, docxOf(["# Prices", "Sencha costs five euros."]), "prices.docx");
    await eventually(async () => (await listOf(ada, id)).every(({ status }) => status === "ready"), {
      timeoutMs: 30_000,
    });
    const { body } = await ada.get<{ results: { name: string; page: number | null; heading: string }[] }>(
      `/api/agents/${id}/knowledge?query=${encodeURIComponent("eighty degrees or five euros")}`,
    );
    expect(body.results.map(({ name, page, heading }) => [name, page, heading]).sort()).toEqual([
      ["prices.docx", null, "Prices"],
      ["tea.pdf", 2, ""],
    ]);
  });
});
