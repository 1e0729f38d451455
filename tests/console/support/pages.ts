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

/** Every second route, for one of two tests that divide the pages, because these share their parts; with BERTH_ALL_VIEWS all. */
export const half = (first: 0 | 1): readonly string[] =>
  ROUTES.filter((_, place) => process.env.BERTH_ALL_VIEWS || place % 2 === first);

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

/** What the addresses of a route can say: filters, tabs, and what is open. */
export const PLACES: Readonly<Record<string, readonly string[]>> = {
  "/": ["?state=up&query=harb&sort=name"],
  "/account/keys": ["?new=1"],
  "/account/skills": ["?skill=folder:tea"],
  "/welcome": ["?step=agent"],
  "/usage": ["?range=7d&by=agent", "?range=own&from=2026-01-01&to=2026-02-01"],
  "/approvals": ["?show=decided"],
  "/webhooks": ["?new=1"],
  "/agents/:id/chat/:conversationId?": ["?query=ferry"],
  "/agents/:id/set-up": ["?view=json"],
  "/agents/:id/gateway": ["?code=python"],
  "/agents/:id/memory": ["?q=ferry&kind=own", "?add=fact"],
  "/agents/:id/skills": ["?add=server"],
  "/agents/:id/webhooks": ["?new=1"],
  "/agents/:id/schedules": ["?edit=new"],
  "/agents/:id/history": ["?version=1"],
  "/agents/:id/approvals": ["?show=decided"],
  "/agents/:id/figures": ["?range=week"],
  "/agents/:id/logs": ["?level=error&query=answer"],
  "/admin/users": ["?query=bob&status=unverified", "?new=account", "?new=invitation"],
  "/admin/agents": ["?query=light&sort=cost"],
  "/admin/usage": ["?by=agent&days=7"],
  "/admin/channels": ["?state=failed"],
  "/admin/settings": ["?query=port&show=all"],
  "/admin/audit": ["?user=bob"],
};
