// The console on two processes, web and backend, over one database server: every page works as on one.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Berth, startBerth } from "../support/berth.ts";
import type { Client } from "../support/client.ts";
import { type AgentItem, member, provision } from "../support/members.ts";
import { type Sqld, startSqld } from "../support/sqld.ts";
import { addAudit, goTo } from "./support/audit.ts";
import { openConsole } from "./support/console.ts";

const SECRET_KEY = "console-split-test-root-key-0123456789";

let sqld: Sqld;
let backend: Berth;
let web: Berth;
let root: Client;
let agent: AgentItem;

beforeAll(async () => {
  sqld = await startSqld();
  const shared = { DATABASE_URL: sqld.url, SECRET_KEY };
  backend = await startBerth({ env: { ...shared, ROLE: "backend" } });
  web = await startBerth({ env: { ...shared, ROLE: "web", BACKEND_URL: backend.backend } });
  root = await member(web);
  await web.command("user", "admin", root.account.email);
  agent = await provision(root, "Harbour");
});
afterAll(async () => {
  await web?.[Symbol.asyncDispose]();
  await backend?.[Symbol.asyncDispose]();
  await sqld?.stop();
});

test("each page opens, and none of its requests is refused", async () => {
  await using console = await openConsole(web, root);
  await addAudit(console.page);
  const refused: string[] = [];
  console.page.on("response", (response) => {
    const { pathname } = new URL(response.url());
    if (response.status() >= 400) refused.push(`${response.status()} ${pathname}`);
  });
  // Both answer so until they are made; the page then offers to make one.
  const notMadeYet = [`404 /api/agents/${agent.id}/stream`, "404 /api/wallet"];
  const linksIn = async (page: string, navigation: string) => {
    await console.open(page);
    const links = await console.page.getByRole("navigation", { name: navigation }).getByRole("link").all();
    return Promise.all(links.map(async (link) => (await link.getAttribute("href")) ?? ""));
  };
  const paths = [
    ...(await linksIn("/", "Pages")),
    ...(await linksIn("/account", "Pages of your account")),
    ...(await linksIn(`/agents/${agent.id}`, "Pages of this agent")),
  ];
  expect(paths.length).toBeGreaterThan(40);
  for (const path of paths) {
    await goTo(console.page, path);
    expect({ path, alerts: await console.page.getByRole("alert").allTextContents() }).toEqual({ path, alerts: [] });
  }
  expect(refused.filter((line) => !notMadeYet.includes(line))).toEqual([]);
  expect(console.complaints()).toEqual([]);
});

test("a page shows what happens elsewhere, without a reload", async () => {
  await using console = await openConsole(web, root);
  await console.open(`/agents/${agent.id}`);
  await root.post(`/api/agents/${agent.id}/stop`);
  await console.page.getByRole("button", { name: "Start" }).waitFor();
  await root.post(`/api/agents/${agent.id}/start`);
  await console.page.getByRole("button", { name: "Stop", exact: true }).waitFor();
});

test("while the backend is away, reading goes on and a change says that nothing was changed", async () => {
  await using console = await openConsole(web, root);
  const { page } = console;
  await console.open(`/agents/${agent.id}`);
  await backend.stop();
  await page.getByRole("button", { name: "Stop", exact: true }).click();
  await page
    .getByText(/backend/i)
    .first()
    .waitFor();
  await backend.restart({ env: { BACKEND_PORT: new URL(backend.backend).port } });
  await page.getByRole("button", { name: "Stop", exact: true }).click();
  await page.getByText("Harbour is stopped").waitFor();
  expect(console.complaints()).toEqual([]);
});
