// The page about the chat on other sites, in Chromium: sites are named and taken out, the look is chosen with a live preview, and
// the code that the page gives out shows the chat on a site.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Berth, startBerth } from "../support/berth.ts";
import type { Client } from "../support/client.ts";
import { member, provision } from "../support/members.ts";
import { startSite, stylesOf, visit } from "../support/sites.ts";
import { expectAccessible, openConsole } from "./support/console.ts";

let berth: Berth;
let ada: Client;
beforeAll(async () => {
  berth = await startBerth();
  ada = await member(berth, "enterprise");
});
afterAll(() => berth?.[Symbol.asyncDispose]());

const configOf = async (id: string) =>
  (await ada.get<{ config: Record<string, unknown> }>(`/api/agents/${id}/config`)).body.config;

test("the code of the page shows the chat, as it was chosen in the preview, on the site that was named", async () => {
  const { id } = await provision(ada, "Harbour", { instructions: "Be kind." });
  await using site = startSite();
  await using console = await openConsole(berth, ada);
  const { page } = console;
  await console.open(`/agents/${id}/embed`);
  await page.getByText("As soon as you have named a site").waitFor();
  const preview = page.frameLocator("iframe");
  await preview.getByRole("heading", { name: "Harbour" }).waitFor();

  await page.getByLabel("Address of your site").fill("http://www.example.com");
  await page.keyboard.press("Enter");
  await page.getByText("Give the address of a site with https").waitFor();
  await page.getByLabel("Address of your site").fill(`${site.origin}/some/page?x=1`);
  await page.keyboard.press("Enter");
  await page
    .getByRole("list", { name: "Sites that may show the chat" })
    .getByText(site.origin, { exact: true })
    .waitFor();

  await page.getByLabel("What it says first").fill("Ahoy <b>there</b>");
  await preview.getByText("Ahoy <b>there</b>").waitFor();
  await page.getByLabel("Colour").fill("#aa3300");
  await page.getByText("Dark", { exact: true }).click();
  await preview.locator(".frame[data-theme=dark]").waitFor({ state: "attached" });
  expect((await stylesOf(preview.locator(".send"))).backgroundColor).toBe("rgb(170, 51, 0)");
  await console.shoot("embed-page");
  await page.getByRole("button", { name: "Save the look" }).click();
  await page.getByText("The look is saved").waitFor();
  expect(await configOf(id)).toEqual({
    instructions: "Be kind.",
    embed: { origins: [site.origin], greeting: "Ahoy <b>there</b>", accent: "#aa3300", theme: "dark" },
  });

  expect(await page.getByRole("link", { name: "Try it on a page of its own" }).getAttribute("href")).toStartWith(
    `${berth.web}/embed/harbour`,
  );
  site.body = (await page.locator("pre", { hasText: "<script" }).textContent()) ?? "";
  await using visitor = await visit(site.origin);
  await visitor.page.getByRole("button", { name: "Chat with Harbour" }).click();
  await visitor.page.getByText("Ahoy <b>there</b>").waitFor();
  site.body = (await page.locator("pre", { hasText: "<iframe" }).textContent()) ?? "";
  await visitor.page.goto(site.origin);
  await visitor.page.frameLocator("iframe").getByText("Ahoy <b>there</b>").waitFor();
  // The policy that the page names is enough for both.
  const policy = (await page.locator("pre", { hasText: "connect-src" }).textContent()) ?? "";
  site.headers = { "content-security-policy": `default-src 'none'; ${policy}` };
  site.body += (await page.locator("pre", { hasText: "<script" }).textContent()) ?? "";
  await visitor.page.goto(site.origin);
  await visitor.page.getByRole("button", { name: "Chat with Harbour" }).waitFor();
  await visitor.page.frameLocator("iframe").getByText("Ahoy <b>there</b>").waitFor();
  expect(visitor.complaints()).toEqual([]);

  await page.getByRole("button", { name: `Remove ${site.origin}` }).click();
  await page.getByText(`${site.origin} is removed`).waitFor();
  expect((await configOf(id)).embed).not.toHaveProperty("origins");
  await page.getByRole("button", { name: "Undo" }).click();
  await page
    .getByRole("list", { name: "Sites that may show the chat" })
    .getByText(site.origin, { exact: true })
    .waitFor();
  expect(console.complaints()).toEqual([]);
});

test("is accessible, without and with sites", async () => {
  const loaded = async (page: Parameters<NonNullable<Parameters<typeof expectAccessible>[3]["prepare"]>>[0]) => {
    await page.frameLocator("iframe").getByRole("heading", { name: "Harbour" }).waitFor();
  };
  const none = await provision(ada, "Harbour");
  await expectAccessible(berth, ada, `/agents/${none.id}/embed`, { name: "embed-console-none", prepare: loaded });
  const embed = {
    origins: ["https://www.example.com"],
    greeting: "Ahoy! Ask me about the harbour.",
    accent: "#7a1fa2",
  };
  const some = await provision(ada, "Harbour", { embed });
  await expectAccessible(berth, ada, `/agents/${some.id}/embed`, { name: "embed-console", prepare: loaded });
});
