// Tests the set-up and the history of an agent: saving, errors at their fields, two tabs, drafts, going back.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Berth, startBerth } from "../support/berth.ts";
import type { Client } from "../support/client.ts";
import { member, provision } from "../support/members.ts";
import { expectAccessible, openConsole } from "./support/console.ts";

let berth: Berth;
let ada: Client;
beforeAll(async () => {
  berth = await startBerth({ env: { RATE_LIMITS: "off" } });
  ada = await member(berth, "enterprise");
});
afterAll(() => berth?.[Symbol.asyncDispose]());

const HOSTILE = '</textarea><img src=x onerror="document.title=1"><script>1</script>';
const configOf = async (id: string) =>
  (await ada.get<{ config: Record<string, unknown> }>(`/api/agents/${id}/config`)).body.config;

async function openSetUp(config: object = { instructions: "Be kind.", own: { key: 1 } }, view = "") {
  const { id } = await provision(ada, "Harbour", config);
  const console = await openConsole(berth, ada);
  await console.open(`/agents/${id}/set-up${view}`);
  const { page } = console;
  const save = page.getByRole("button", { name: "Save", exact: true });
  const instructions = page.getByRole("textbox", { name: "Instructions" });
  return { id, console, page, save, instructions, [Symbol.asyncDispose]: () => console[Symbol.asyncDispose]() };
}

describe("the set-up", () => {
  test("has the zone of whoever made the agent in the console", async () => {
    await using console = await openConsole(berth, ada);
    const { page } = console;
    await console.open("/agents?new=assistant");
    await page.getByRole("button", { name: "Make the agent" }).click();
    await page.waitForURL(/\/agents\/[0-9a-f-]+\/chat/);
    const [, id = ""] = /agents\/([0-9a-f-]+)/.exec(page.url()) ?? [];
    await console.open(`/agents/${id}/set-up`);
    expect(await page.getByLabel("Time zone").inputValue()).toBe("Europe/Vienna");
    expect((await configOf(id)).timezone).toBe("Europe/Vienna");
  });

  test("takes models that speak and make pictures, and says at the field that nobody has a key for them", async () => {
    await using opened = await openSetUp({ own: 1 });
    const { id, page, save } = opened;
    await page.getByLabel("Speak replies").selectOption("always");
    await page.getByLabel("Model for pictures").fill("provider_5:gpt-image-1");
    await save.click();
    await page.getByText("No provider has a model that speaks, so replies stay text.").waitFor();
    await page.getByText("There is no key for provider_5:gpt-image-1, of the agent or the operator.").waitFor();
    expect(await configOf(id)).toEqual({
      own: 1,
      voice: { replies: "always" },
      pictures: { model: "provider_5:gpt-image-1" },
    });
    await page.getByLabel("Model for pictures").fill("");
    await page.getByLabel("Speak replies").selectOption("");
    await save.click();
    await save.waitFor({ state: "detached" });
    expect(await configOf(id)).toEqual({ own: 1 });
  });

  test("saves instructions, model, style and budget, and keeps keys that it does not know", async () => {
    await using opened = await openSetUp();
    const { id, console, page, save, instructions } = opened;
    await instructions.fill(`Be brief. ${HOSTILE}`);
    await page.getByLabel("Longest answer").fill("300");
    await page.getByLabel("US dollars a day").fill("0.5");
    await page.getByRole("slider").fill("0.2");
    await page.getByText("exact, much the same each time").waitFor();
    await page.keyboard.press("Control+s");
    await page.getByText("Saved. It counts from the next message on.").waitFor();
    await save.waitFor({ state: "detached" });
    expect(await configOf(id)).toEqual({
      instructions: `Be brief. ${HOSTILE}`,
      own: { key: 1 },
      maxTokens: 300,
      budget: { usdPerDay: 0.5 },
      temperature: 0.2,
    });
    await page.getByText("own", { exact: false }).first().waitFor();
    await page.reload();
    expect(await instructions.inputValue()).toBe(`Be brief. ${HOSTILE}`);
    expect(console.complaints()).toEqual([]);
  });

  test("chooses a model of the catalogue, or any other by its id", async () => {
    await using opened = await openSetUp();
    const { id, console, page, save } = opened;
    await page.getByRole("radio", { name: /Another model/ }).click();
    const picker = page.getByRole("dialog", { name: "Choose a model" });
    await picker.getByRole("searchbox").fill("maker/quite-new");
    await picker.getByRole("button", { name: "Use “maker/quite-new”" }).click();
    await save.click();
    await page.getByText("Saved.").first().waitFor();
    expect((await configOf(id)).model).toBe("maker/quite-new");
    await page.getByRole("button", { name: "Choose a model…" }).click();
    await picker.getByRole("searchbox").fill("gpt");
    await picker
      .getByRole("button", { name: /GPT.*OpenAI/i })
      .first()
      .click();
    await picker.waitFor({ state: "detached" });
    await save.click();
    await save.waitFor({ state: "detached" });
    expect((await configOf(id)).model).toMatch(/^provider_\d:.*gpt/);
    expect(console.complaints()).toEqual([]);
  });

  test("shows an error of the server at its field, and warnings where they belong", async () => {
    await using opened = await openSetUp({});
    const { page, save } = opened;
    await page.getByLabel("Time zone").fill("Moon/Crater");
    await save.click();
    await page
      .getByRole("alert")
      .getByText(/name of a time zone/)
      .waitFor();
    expect(await page.getByLabel("Time zone").getAttribute("aria-invalid")).toBe("true");
    await page.getByRole("button", { name: "Discard" }).click();
    await save.waitFor({ state: "detached" });
    expect(await page.getByLabel("Time zone").inputValue()).toBe("");
  });

  test("keeps changes through other pages and a reload, and tells so", async () => {
    await using opened = await openSetUp();
    const { page, save, instructions } = opened;
    await instructions.fill("A draft");
    await page.getByRole("link", { name: "Overview" }).click();
    await page.getByRole("button", { name: "Back to them" }).click();
    await instructions.waitFor();
    expect(await instructions.inputValue()).toBe("A draft");
    page.once("dialog", (dialog) => void dialog.accept());
    await page.reload();
    await save.waitFor();
    expect(await instructions.inputValue()).toBe("A draft");
  });

  test("is changed from JSON, with errors at their lines", async () => {
    await using opened = await openSetUp({ instructions: "Be kind." }, "?view=json");
    const { id, console, page, save } = opened;
    const json = page.getByRole("textbox", { name: "JSON" });
    await json.fill('{\n  "instructions": "Short.",');
    await page
      .getByRole("alert")
      .getByText(/no JSON object yet/)
      .waitFor();
    expect(await save.count()).toBe(0);
    await json.fill('{\n  "instructions": "Short.",\n  "temperature": 9\n}');
    await save.click();
    await page.getByRole("button", { name: "Line 3" }).click();
    expect(
      await page.evaluate(
        "getSelection().toString() || document.activeElement.value.slice(document.activeElement.selectionStart, document.activeElement.selectionEnd)",
      ),
    ).toContain('"temperature": 9');
    await json.fill('{\n  "instructions": "Short.",\n  "temperatur": 1\n}');
    await save.click();
    await page.getByText(/Did you mean temperature/).waitFor();
    expect(await configOf(id)).toEqual({ instructions: "Short.", temperatur: 1 });
    expect(console.complaints()).toEqual([]);
  });
});

describe("two tabs", () => {
  test("keep both changes if they concern different things", async () => {
    await using opened = await openSetUp();
    const { id, page, instructions } = opened;
    await page.getByLabel("US dollars a day").fill("2");
    await ada.patch(`/api/agents/${id}`, { config: { instructions: "From elsewhere" }, configVersion: 1 });
    await page.getByText("The configuration was changed elsewhere meanwhile").waitFor();
    await page.getByRole("button", { name: "Save both" }).click();
    await page.getByText("Saved.").first().waitFor();
    expect(await configOf(id)).toEqual({ instructions: "From elsewhere", budget: { usdPerDay: 2 } });
    expect(await instructions.inputValue()).toBe("From elsewhere");
  });

  test("show the difference if both changed the same, also where no event came in time", async () => {
    await using opened = await openSetUp();
    const { id, page, save, instructions } = opened;
    await instructions.waitFor();
    await page.route("**/api/agents/*/config/versions*", (route) => route.abort());
    await instructions.fill("Mine");
    await ada.patch(`/api/agents/${id}`, { config: { instructions: "Theirs" } });
    await page.unroute("**/api/agents/*/config/versions*");
    await save.click();
    await page.getByText("You both changed the same thing.").waitFor();
    await page
      .getByRole("group", { name: /Saved elsewhere compared to Your changes/ })
      .or(page.getByText("Theirs"))
      .first()
      .waitFor();
    await page.getByRole("button", { name: /Save mine/ }).click();
    await page.getByText("Saved.").first().waitFor();
    expect((await configOf(id)).instructions).toBe("Mine");
  });

  test("follow each other while nothing is edited", async () => {
    await using opened = await openSetUp();
    const { id, page, instructions } = opened;
    await instructions.waitFor();
    await ada.put(`/api/agents/${id}/config`, { instructions: "Live" });
    await page.getByText(/^Characters: 4,/).waitFor();
  });
});

describe("the history", () => {
  const versions = async (id: string) =>
    (await ada.get<{ count: number }>(`/api/agents/${id}/config/versions`)).body.count;

  test("shows what each version changed, goes back, and takes that back", async () => {
    const { id } = await provision(ada, "Harbour", { instructions: "One\nTwo\nThree" });
    await ada.put(`/api/agents/${id}/config`, { instructions: `One\n${HOSTILE}\nThree`, temperature: 0.4 });
    await using console = await openConsole(berth, ada);
    const { page } = console;
    await console.open(`/agents/${id}/history`);
    await page.getByRole("heading", { name: "From version 1 to 2" }).waitFor();
    await page.getByText("temperature", { exact: true }).waitFor();
    await page.getByText("Two", { exact: false }).first().waitFor();
    await page.getByRole("button", { name: /Version 1/ }).click();
    await page.getByRole("button", { name: "Go back to this version" }).click();
    await page.getByText("Version 1 is in force again").waitFor();
    expect(await configOf(id)).toEqual({ instructions: "One\nTwo\nThree" });
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByText("The version before is in force again").waitFor();
    expect(await configOf(id)).toMatchObject({ temperature: 0.4 });
    expect(await versions(id)).toBe(4);
    await page.reload();
    await page.getByRole("button", { name: /Version 4/ }).waitFor();
    expect(console.complaints()).toEqual([]);
  });
});

test("both pages are accessible in both themes, sizes and languages, with picker, conflict and difference", async () => {
  const config = {
    instructions: "You are the desk of [your company].\nBe kind.",
    budget: { usdPerDay: 5 },
    temperature: 0.3,
  };
  const { id } = await provision(ada, "Harbour", config);
  await ada.put(`/api/agents/${id}/config`, {
    ...config,
    instructions: "You are the desk of Ada & Co.\nBe kind.\nBe brief.",
  });
  await expectAccessible(berth, ada, `/agents/${id}/set-up`, {
    name: "set-up",
    prepare: (page) => page.getByRole("radio", { name: /Standard/ }).waitFor(),
  });
  await expectAccessible(berth, ada, `/agents/${id}/set-up`, {
    name: "set-up-picker",
    async prepare(page) {
      await page.getByRole("radio", { name: /Another model|Anderes Modell/ }).click();
      await page.getByRole("dialog").getByRole("button", { pressed: false }).nth(3).waitFor();
    },
  });
  await expectAccessible(berth, ada, `/agents/${id}/history`, {
    name: "history",
    prepare: (page) => page.getByText("instructions", { exact: true }).waitFor(),
  });
});
