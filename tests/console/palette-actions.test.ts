// Everything that a person can do in the console is an action of the palette, found by its name and by other words, in both
// languages, and leads to where it is done.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { resolve } from "node:path";
import { eventually } from "../support/eventually.ts";
import { addAudit, goTo, ready } from "./support/audit.ts";
import { openConsole } from "./support/console.ts";
import { startWorld, type World } from "./support/world.ts";
import { WRITES } from "./support/writes.ts";

interface Action {
  label: string;
  keywords?: string;
  path?: string;
  run?: () => void;
}

/** The console's own tables. They are imported by path, since the types of the console are those of a browser. */
const importFrom = async <Table>(file: string): Promise<Table> =>
  (await import(resolve(import.meta.dir, "../../web", file))) as Table;

const { ACTIONS, ADMIN_ACTIONS } =
  await importFrom<Record<"ACTIONS" | "ADMIN_ACTIONS", readonly Action[]>>("pages/palette/actions.ts");
const { AGENT_ACTIONS } = await importFrom<{ AGENT_ACTIONS: readonly (Action & { path: string })[] }>(
  "pages/agent/actions.ts",
);
const { translation: german } = await importFrom<{ translation: { texts: Record<string, string> } }>("languages/de.ts");
const { rank, wordsOf } = await importFrom<{
  rank: <Item>(items: readonly Item[], words: readonly string[]) => Item[];
  wordsOf: (text: string) => string[];
}>("pages/palette/ranking.ts");

const ALL: readonly Action[] = [...ACTIONS, ...ADMIN_ACTIONS, ...AGENT_ACTIONS];
const inLanguage = (language: string, english = "") => (language === "de" ? (german.texts[english] ?? "") : english);

test("every page on which something is changed is where some action leads", () => {
  const led = new Set([
    ...[...ACTIONS, ...ADMIN_ACTIONS].flatMap(({ path }) => path?.split("?")[0] ?? []),
    ...AGENT_ACTIONS.map(({ path }) =>
      `/agents/:id${path.split("?")[0]}`.replace(/channels\/.*/, "channels/:channel?"),
    ),
  ]);
  // Those begin in the list of agents, on a page of the list above, or on the server itself.
  const done = ["New agent", "Make a backup now"].map((label) => ALL.some((one) => one.label === label && one.run));
  expect(done).toEqual([true, true]);
  const beside = ["/", "/webhooks/:id", "/admin/users/:id"];
  expect(Object.keys(WRITES).filter((route) => !led.has(route) && !beside.includes(route))).toEqual([]);
});

describe.each([
  [
    "en",
    {
      "new schedule": "New schedule",
      cron: "New schedule",
      "add server": "Add an MCP server",
      "install skill": "Install a skill",
      "new key": "New API key",
      token: "New API key",
      "new webhook": "New webhook",
      "create user": "New account",
      invite: "Invite",
      "upload file": "New agent from a file",
      upload: "Add files to the memory",
      "add memory fact": "Teach a fact",
      remember: "Teach a fact",
      "new backup": "Make a backup now",
      "connect channel": "Connect Telegram",
      whatsapp: "Connect WhatsApp",
      budget: "Set a budget",
      "2fa": "Set up two-factor",
    },
  ],
  [
    "de",
    {
      "neuer zeitplan": "New schedule",
      täglich: "New schedule",
      "server hinzufügen": "Add an MCP server",
      "skill installieren": "Install a skill",
      "neuer schlüssel": "New API key",
      "neuer webhook": "New webhook",
      "nutzer anlegen": "New account",
      einladen: "Invite",
      hochladen: "Add files to the memory",
      merken: "Teach a fact",
      backup: "Make a backup now",
      "kanal verbinden": "Connect Telegram",
      budget: "Set a budget",
      passwort: "Change my password",
    },
  ],
] as const)("in %s", (language, sought) => {
  const named = ALL.map(({ label, keywords }) => ({
    english: label,
    label: inLanguage(language, label),
    keywords: inLanguage(language, keywords),
  }));

  test("each has a name and other words of its own language", () => {
    expect(named.filter(({ label }) => label === "")).toEqual([]);
    expect(ALL.filter(({ keywords }) => keywords && inLanguage(language, keywords) === "")).toEqual([]);
  });

  test.each(Object.entries(sought))("“%s” finds “%s”", (typed, label) => {
    const found = rank(named, wordsOf(typed)).map(({ english }) => english);
    expect(found).toContain(label);
  });
});

describe("in the browser", () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld();
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  test.each(["en", "de"] as const)(
    "each is found by its name and leads to an existing place, in %s",
    async (language) => {
      await using console = await openConsole(world.berth, world.root, { theme: "light", width: 1280, language });
      const { page } = console;
      await addAudit(page);
      await console.open(`/agents/${world.agentId}`);
      await ready(page);
      const ofAgent = `/agents/${world.agentId}`;
      const actions = [
        ...[...ACTIONS, ...ADMIN_ACTIONS].map(({ label, path }) => ({ label, wanted: path, before: "" })),
        ...AGENT_ACTIONS.map(({ label, path }) => ({ label, wanted: ofAgent + path, before: ": " })),
      ];
      // Each in one language, since the table is the same; in both with BERTH_ALL_VIEWS.
      const isTried = (place: number) => process.env.BERTH_ALL_VIEWS || place % 2 === (language === "en" ? 0 : 1);
      const tried = actions.filter((_, place) => isTried(place));
      for (const { label, wanted, before } of tried) {
        if (wanted === undefined) continue;
        const name = inLanguage(language, label);
        // A guided path has no palette.
        await goTo(page, ofAgent);
        await page.keyboard.press("Control+k");
        await page.locator("dialog").getByRole("combobox").fill(name);
        const option = page
          .getByRole("option")
          .filter({ hasText: before + name })
          .first();
        await option.click();
        await eventually(() => page.url().endsWith(wanted), { what: `${label} leads to ${wanted}` });
        await ready(page);
        expect({
          label,
          missing: await page.getByText(/There is no such page|Diese Seite gibt es nicht/).count(),
        }).toEqual({
          label,
          missing: 0,
        });
        // What is named in the address is open.
        if (/[?&](?:new|edit|add)=/.test(wanted))
          await eventually(async () => (await page.locator("dialog[open], form:focus-within").count()) > 0, {
            what: label,
          });
        if (await page.locator("dialog[open]").isVisible()) await page.keyboard.press("Escape");
      }
      expect(console.complaints()).toEqual([]);
    },
  );
});
