// The table of all pages of the console, for the tests that look at every one: a page without a row fails them.

import { resolve } from "node:path";
import type { World } from "./world.ts";

/** The console's own tables. They are imported by path, since the types of the console are those of a browser. */
async function tableOf(file: string, name: string): Promise<readonly { path: string }[]> {
  const tables = (await import(resolve(import.meta.dir, "../../../web", file))) as Record<string, { path: string }[]>;
  const table = tables[name];
  if (!table) throw new Error(`${file} has no ${name}.`);
  return table;
}

const pages = await tableOf("app/routes.ts", "PAGES");
const accountPages = await tableOf("pages/account/pages.ts", "ACCOUNT_PAGES");
const agentPages = await tableOf("pages/agent/pages.ts", "AGENT_PAGES");

/** The routes of the console, with those of the account's and an agent's pages in place of their layouts. */
export const ROUTES: readonly string[] = pages.flatMap(({ path }) => {
  if (path === "/account/*?") return accountPages.map((page) => `/account${page.path}`);
  if (path === "/agents/:id/*?") return agentPages.map((page) => `/agents/:id${page.path}`);
  return [path];
});

/** The addresses of a route in a world with something on each page. */
export function addressesOf(route: string, { agentId, webhookId, otherId, conversationId }: World): string[] {
  const path = route.replace("/agents/:id", `/agents/${agentId}`).replace("/webhooks/:id", `/webhooks/${webhookId}`);
  if (path.endsWith("/:conversationId?")) {
    const chat = path.replace("/:conversationId?", "");
    return [chat, `${chat}/${conversationId}`];
  }
  if (path.endsWith("/:channel?")) {
    const channels = path.replace("/:channel?", "");
    return [channels, `${channels}/channel_a`, `${channels}/channel_b`];
  }
  return [path.replace("/users/:id", `/users/${otherId}`)];
}
