// Every dialog, menu and panel of the console, opened: axe looks at each of them. A file with one that is not in the table
// fails the test.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { resolve } from "node:path";
import type { Page } from "playwright-core";
import { addAudit, ready } from "./support/audit.ts";
import { expectAccessible, openConsole, VIEWS, type View } from "./support/console.ts";
import { addressesOf } from "./support/pages.ts";
import { startWorld, type World } from "./support/world.ts";

const web = resolve(import.meta.dir, "../../web");
const { translation: german } = (await import(resolve(web, "languages/de.ts"))) as {
  translation: { texts: Record<string, string> };
};

let world: World;
beforeAll(async () => {
  world = await startWorld();
  await world.root.put(`/api/agents/${world.agentId}/stream`, {});
});
afterAll(() => world?.[Symbol.asyncDispose]());

interface Overlay {
  /** The file below web/ that has it. */
  file: string;
  /** The route and what is in its address. */
  at: string;
  /** What is pressed one after the other: the English names of buttons, or else selectors. */
  press?: readonly string[];
  /** The keys that open it. */
  keys?: string;
}

const OPEN = "dialog[open], [role=menu], [role=listbox]";

const OVERLAYS: readonly Overlay[] = [
  { file: "app/account-menu.tsx", at: "/", press: ["#rail [aria-haspopup=menu]"] },
  { file: "pages/palette/index.tsx", at: "/usage", keys: "Control+k" },
  { file: "pages/new-agent/index.tsx", at: "/", press: ["New agent"] },
  { file: "pages/agents/agent-menu.tsx", at: "/", press: ["main [aria-haspopup=menu]"] },
  {
    file: "pages/agents/delete-dialog.tsx",
    at: "/",
    press: ["Select several", "main [type=checkbox]", "Delete"],
  },
  {
    file: "pages/model-picker/index.tsx",
    at: "/agents/:id/set-up",
    press: ["label:has(input[type=radio]):has-text('model') >> nth=-1"],
  },
  { file: "pages/account/keys/new-key-dialog.tsx", at: "/account/keys?new=1" },
  { file: "pages/account/profile/email-section.tsx", at: "/account", press: ["Change"] },
  { file: "pages/account/profile/deletion-section.tsx", at: "/account", press: ["Delete the account…"] },
  {
    file: "pages/account/security/enrolment-dialog.tsx",
    at: "/account/security",
    press: ["main section:has(h2:text-matches('^(Two-factor|Zweiter Faktor)')) button"],
  },
  { file: "pages/account/sign-ins/social-section.tsx", at: "/account/sign-ins", press: ["Link one…"] },
  { file: "pages/admin/users/new-account-dialog.tsx", at: "/admin/users?new=account" },
  { file: "pages/admin/users/invite-dialog.tsx", at: "/admin/users?new=invitation" },
  { file: "pages/admin/freeze-dialog.tsx", at: "/admin/users/:id", press: ["Freeze the account"] },
  { file: "pages/admin/user/remove-account.tsx", at: "/admin/users/:id", press: ["Delete the account"] },
  { file: "pages/admin/user/sign-in-help.tsx", at: "/admin/users/:id", press: ["Show a link to pass on"] },
  { file: "pages/start/models/index.tsx", at: "/admin/models", press: ["Add a key"] },
  { file: "pages/wallet/other-wallets.tsx", at: "/wallet", press: ["Import a wallet"] },
  { file: "pages/wallet/send-dialog.tsx", at: "/wallet", press: ["Send"] },
  { file: "pages/webhooks/new-webhook.tsx", at: "/webhooks?new=1" },
  { file: "pages/webhooks/webhook-page.tsx", at: "/webhooks/:id", press: ["Make a new secret"] },
  { file: "pages/agent/schedules/editor.tsx", at: "/agents/:id/schedules?edit=new" },
  { file: "pages/agent/skills/mcp/add-server.tsx", at: "/agents/:id/skills?add=server" },
  { file: "pages/agent/backups/rollback-dialog.tsx", at: "/agents/:id/backups", press: ["Go back to this"] },
  { file: "pages/agent/gateway/token-section.tsx", at: "/agents/:id/gateway", press: ["Replace the token"] },
  { file: "pages/agent/stream/encoder-section.tsx", at: "/agents/:id/stream", press: ["Replace the key"] },
  {
    file: "pages/agent/people/erase-dialog.tsx",
    at: "/agents/:id/people",
    press: ["main li button:has-text('…')"],
  },
  { file: "pages/agent/danger/delete-dialog.tsx", at: "/agents/:id/danger", press: ["main button >> nth=-1"] },
];

/** Those that need what this world has not; the named test looks at them with axe. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  // It takes the place of a dialog whose code can't be loaded.
  "parts/lazy.tsx": "connection.test.ts",
  "session/sign-in-dialog.tsx": "every-overlay.test.ts",
  "pages/as-code/index.tsx": "every-overlay.test.ts",
  // It wants a provider with models.
  "pages/start/models/default-models.tsx": "models.test.ts",
  "pages/account/confirmation.tsx": "account.test.ts",
  "pages/account/security/turn-off-dialog.tsx": "account.test.ts",
  "pages/account/skills/file-dialog.tsx": "skills.test.ts",
  "pages/agent/chat/messages/turn-panel.tsx": "chat.test.ts",
};

test("every file with a dialog or a menu is in the table", async () => {
  const files: string[] = [];
  for await (const path of new Bun.Glob("{app,pages,parts,session}/**/*.tsx").scan(web)) {
    // What all others are made of.
    if (path === "parts/dialog.tsx" || path === "parts/forms/form-dialog.tsx") continue;
    if (/<(?:Dialog|FormDialog|dialog|Menu\.Root)\b/.test(await Bun.file(resolve(web, path)).text())) files.push(path);
  }
  expect(files.sort()).toEqual([...OVERLAYS.map(({ file }) => file), ...Object.keys(ELSEWHERE)].sort());
});

test("those that are looked at elsewhere are opened there", async () => {
  for (const [file, name] of Object.entries(ELSEWHERE)) {
    const source = await Bun.file(resolve(import.meta.dir, name)).text();
    expect({ file, isLookedAt: source.includes("expectAccessible") || source.includes("violations()") }).toEqual({
      file,
      isLookedAt: true,
    });
  }
});

async function open(page: Page, { press = [], keys }: Overlay, { width, language }: View): Promise<void> {
  if (width === 390 && press[0]?.startsWith("#rail")) {
    await page.getByRole("button", { name: language === "de" ? "Menü öffnen" : "Open the menu" }).click();
  }
  for (const one of press) {
    const isSelector = /[#[]|^main |^label/.test(one);
    const name = language === "de" ? (german.texts[one] ?? one) : one;
    const target = isSelector ? page.locator(one) : page.getByRole("button", { name, exact: true });
    await target.first().click();
  }
  if (keys) await page.keyboard.press(keys);
  await page.locator(OPEN).locator("visible=true").first().waitFor();
  await page.locator("dialog[open] .skeleton").first().waitFor({ state: "detached" });
}

const addressOf = (at: string): string => {
  const [route = "", query = ""] = at.split(/(?=\?)/);
  return `${addressesOf(route, world)[0]}${query}`;
};

describe("is accessible when it is open:", () => {
  test.each(OVERLAYS.map((one) => [one.file, one] as const))("%s", async (file, overlay) => {
    await expectAccessible(world.berth, world.root, addressOf(overlay.at), {
      name: `overlay-${file.replaceAll(/[/.]/g, "-")}`,
      prepare: (page, view) => open(page, overlay, view),
    });
  });

  // Each has other requests: many of one page once had one name for all.
  test.each(["/", "/usage", "/admin", "/agents/:id/memory"])("this page as code, of %s", async (route) => {
    await using console = await openConsole(
      world.berth,
      world.root,
      VIEWS[["/", "/usage", "/admin"].indexOf(route) + 1],
    );
    const { page } = console;
    await addAudit(page);
    await console.open(addressOf(route));
    await ready(page);
    await page.getByRole("button", { name: /^(?:This page as code|Diese Seite als Code)$/ }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("group").first().waitFor();
    const names = await dialog.locator("pre").evaluateAll((all) => all.map((one) => one.getAttribute("aria-label")));
    expect(names.length).toBeGreaterThan(1);
    expect(new Set(names).size).toBe(names.length);
    expect(await console.violations()).toEqual([]);
  });

  test("the sign-in after the end of a session", async () => {
    for (const view of VIEWS.slice(1, 3)) {
      await using console = await openConsole(world.berth, world.root, view);
      const { page, context } = console;
      await console.open("/wallet");
      await context.clearCookies();
      await page.evaluate(`history.pushState(null, "", "/usage")`);
      await page.getByRole("dialog").waitFor();
      expect({ view, found: await console.violations() }).toEqual({ view, found: [] });
    }
  });
});
