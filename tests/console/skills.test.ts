// The page of the account's skills in Chromium: install, what is refused, read, trust, versions, removal, hostile texts.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { type SkillBody, upload } from "../../plugins/skill-folders/support.test.ts";
import { type Berth, startBerth } from "../support/berth.ts";
import type { Client } from "../support/client.ts";
import { member, provision } from "../support/members.ts";
import { skillMd, zipOf } from "../support/zips.ts";
import { expectAccessible, openConsole } from "./support/console.ts";

let berth: Berth;
beforeAll(async () => {
  berth = await startBerth({ env: { RATE_LIMITS: "off" } });
});
afterAll(() => berth?.[Symbol.asyncDispose]());

const PATH = "/account/skills";
const tea = (version: number) =>
  zipOf({
    "tea/SKILL.md": [
      "---",
      "name: tea",
      "description: Makes tea of any kind. Use it when somebody is thirsty or asks about leaves, water or cups.",
      "license: Apache-2.0",
      "compatibility: Requires a kettle",
      "allowed-tools: Bash(boil:*) Read",
      "colour: green",
      `metadata: {version: "1.${version}"}`,
      "---",
      `# Steps\n\n1. Boil water, version ${version}.\n`,
    ].join("\n"),
    "tea/references/leaves.md": "Green, black, white.\n",
    "tea/scripts/boil.sh": "#!/bin/sh\nboil\n",
    "tea/scripts/minutes.js": "console.log(3);",
    "tea/assets/cup.png": new Uint8Array([0x89, 0x50, 0]),
  });
const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
const toasts = (page: Page) => page.getByRole("region", { name: "Messages" });
const choose = (page: Page, name: string, bytes: Uint8Array) =>
  page.getByLabel("Zip or SKILL.md").setInputFiles({ name, mimeType: "application/zip", buffer: Buffer.from(bytes) });
const details = async (ada: Client) => (await ada.get<SkillBody>("/api/skills/folder:tea")).body;

test("a chosen file is installed, read as text, and trusted", async () => {
  const ada = await member(berth);
  await using console = await openConsole(berth, ada);
  const { page } = console;
  await console.open(PATH);
  await page.getByText("No skill yet").waitFor();
  await choose(page, "tea.zip", tea(1));
  await toasts(page).getByText("tea is installed, as version 1").waitFor();
  await page.getByText("The specification has no such field.").waitFor();
  await page.getByText("script, not run").waitFor();
  await page.getByText("runs in a sandbox").waitFor();
  await button(page, "references/leaves.md").click();
  await page.getByRole("dialog").getByText("Green, black, white.").waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Close" }).click();
  expect(await details(ada)).toMatchObject({ trusted: false });
  await page.getByRole("switch", { name: "I have read this version and trust it" }).click();
  await page.getByText("Its instructions count like your own.").waitFor();
  await page.getByText("Not trusted yet").waitFor({ state: "detached" });
  expect(await details(ada)).toMatchObject({ trusted: true });
  // What is open is in the address.
  await page.reload();
  await button(page, "references/leaves.md").waitFor();
  expect(console.complaints()).toEqual([]);
});

test("an upload of the same name is a new version, and an earlier one can be used again", async () => {
  const ada = await member(berth);
  await upload(berth.web, ada, tea(1));
  await using console = await openConsole(berth, ada);
  const { page } = console;
  await console.open(`${PATH}?skill=folder:tea`);
  await choose(page, "tea.zip", tea(2));
  await toasts(page).getByText("tea is installed, as version 2").waitFor();
  await button(page, "Use version 1").click();
  await button(page, "Use version 2").waitFor();
  expect(await details(ada)).toMatchObject({ version: "1" });
});

test("a removed skill comes back with Undo", async () => {
  const ada = await member(berth);
  await upload(berth.web, ada, tea(1));
  await using console = await openConsole(berth, ada);
  const { page } = console;
  await console.open(`${PATH}?skill=folder:tea`);
  await button(page, "Remove tea").click();
  await page.getByText("No skill yet").waitFor();
  expect((await ada.get("/api/skills/folder:tea")).status).toBe(404);
  await button(page, "Undo").click();
  await button(page, "Remove tea").waitFor();
  expect((await ada.get("/api/skills/folder:tea")).status).toBe(200);
});

describe("what can't be installed is explained in place:", () => {
  test("a folder with mistakes, in the viewer's language", async () => {
    const ada = await member(berth);
    const bad = zipOf({ "<b>tea</b>/SKILL.md": "---\nlicense: MIT\n---\n" });
    await using german = await openConsole(berth, ada, { theme: "light", width: 1280, language: "de" });
    await german.open(PATH);
    await german.page
      .getByLabel("Zip oder SKILL.md")
      .setInputFiles({ name: "tea.zip", mimeType: "application/zip", buffer: Buffer.from(bad) });
    const note = german.page.getByRole("alert");
    await note.getByText("Die Fähigkeit hat keine Beschreibung.").waitFor();
    await note.getByText("SKILL.md: description").waitFor();
  });

  test("an address that is not allowed", async () => {
    const ada = await member(berth);
    await using console = await openConsole(berth, ada);
    const { page } = console;
    await console.open(PATH);
    expect(await button(page, "Install").isDisabled()).toBe(true);
    await page.getByLabel("Or its address").fill("https://127.0.0.1/tea.zip");
    await button(page, "Install").click();
    await page.getByRole("alert").waitFor();
    expect((await ada.get<{ skills: { source: string }[] }>("/api/skills")).body.skills).not.toContainEqual(
      expect.objectContaining({ source: "installed" }),
    );
  });
});

test("hostile names, descriptions, paths and texts are shown as text, also on the agent's page", async () => {
  const ada = await member(berth);
  const { id } = await provision(ada);
  const markup = "<img src=x onerror='globalThis.hacked=1'>";
  const installed = await upload(
    berth.web,
    ada,
    zipOf({
      "x/SKILL.md": `---\nname: "${markup} \u202Egnp"\ndescription: "${markup} [a](javascript:1) ${"x".repeat(900)}"\ncompatibility: "${markup}"\n---\n${markup}`,
      [`x/${"<svg onload=hacked=1>"}.md`]: markup,
    }),
  );
  expect(installed.status).toBe(201);
  await using console = await openConsole(berth, ada);
  const { page } = console;
  await console.open(`${PATH}?skill=${encodeURIComponent(installed.body.id)}`);
  await page.getByText(`${markup} ⟨U+202E⟩gnp`).first().waitFor();
  await button(page, "SKILL.md").click();
  await page.getByRole("dialog").getByText(markup).first().waitFor();
  await console.open(`/agents/${id}/skills`);
  await page.getByRole("article", { name: `${markup} ⟨U+202E⟩gnp` }).waitFor();
  expect(await page.evaluate("[globalThis.hacked, document.querySelectorAll('img[src=x]').length]")).toEqual([
    undefined,
    0,
  ]);
  expect(await page.evaluate("document.documentElement.scrollWidth > innerWidth")).toBe(false);
  expect(console.complaints()).toEqual([]);
});

test("can be read by everybody, on every screen", async () => {
  const ada = await member(berth);
  const { id } = await provision(ada);
  await upload(berth.web, ada, tea(1));
  await upload(berth.web, ada, tea(2));
  await upload(berth.web, ada, zipOf({ "SKILL.md": skillMd("coffee", "Brews coffee.") }));
  await ada.patch("/api/skills/folder:coffee", { trusted: true });
  await expectAccessible(berth, ada, `${PATH}?skill=folder:tea`, {
    name: "account-skills",
    prepare: (page) => page.locator("[role=switch]").waitFor(),
  });
  await expectAccessible(berth, ada, `/agents/${id}/skills`, {
    name: "agent-skills",
    prepare: (page) => page.getByRole("article", { name: "tea" }).waitFor(),
  });
});
