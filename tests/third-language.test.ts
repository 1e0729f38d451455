// One file and one row make Berth speak another language: a copy of the source gets French, whose texts are the English ones with a mark.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readTranslation } from "../web/languages/read-translation.ts";
import type { Translation } from "../web/languages/translation.ts";
import { openConsole } from "./console/support/console.ts";
import { newEmail, PASSWORD } from "./support/accounts.ts";
import { type Berth, startBerth } from "./support/berth.ts";
import { createClient } from "./support/client.ts";
import { bun, run, temporaryDir } from "./support/process.ts";
import { type Smtp, startSmtp } from "./support/smtp.ts";
import { copySource } from "./support/source-copy.ts";

const FRENCH = { headers: { "accept-language": "fr-CA,fr;q=0.9,de;q=0.5" } };

type Texts = Readonly<Record<string, string>>;
const markKeys = (texts: Texts) => Object.fromEntries(Object.keys(texts).map((english) => [english, `≈${english}`]));
const markValues = <Table extends Texts>(texts: Table, place: string | RegExp = /^/) =>
  Object.fromEntries(Object.entries(texts).map(([key, value]) => [key, value.replace(place, "$&≈")])) as Table;

function markedFrom({
  texts,
  server,
  errors,
  notes,
  calls,
  pages,
  pageErrors,
  mails,
  templates,
}: Translation): Translation {
  return {
    texts: markKeys(texts),
    server: Object.fromEntries(Object.entries(server).map(([area, table]) => [area, markKeys(table)])),
    errors: markValues(errors),
    notes: markKeys(notes),
    calls: markKeys(calls),
    pages: markKeys(pages),
    pageErrors: { accounts: markValues(pageErrors.accounts), visitors: markValues(pageErrors.visitors) },
    mails: markValues(mails, /^Subject: /),
    templates: {
      ...templates,
      assistant: { ...templates.assistant, name: `≈${templates.assistant.name}` },
    },
  };
}

/** Copies the source to `copy` and adds the language there. Returns a program that runs the copy. */
async function addFrench(copy: string): Promise<string> {
  const program = copySource(copy);
  const list = join(copy, "web/languages/languages.ts");
  const rows = readFileSync(list, "utf8");
  const withFrench = rows.replace('de: "Deutsch"', '$&, fr: "Français"');
  expect(withFrench).not.toBe(rows);
  writeFileSync(list, withFrench);
  const marked = markedFrom(await readTranslation("de"));
  writeFileSync(join(copy, "web/languages/fr.ts"), `export const translation = ${JSON.stringify(marked)};\n`);
  const built = await run([bun, "web/build/build.ts", "--fast"], {}, copy, 100_000);
  expect({ ...built, stdout: "" }).toMatchObject({ exitCode: 0 });
  return program;
}

const copy = temporaryDir("berth-language-");
let smtp: Smtp;
let berth: Berth;
beforeAll(async () => {
  smtp = await startSmtp();
  const binary = await addFrench(copy.path);
  berth = await startBerth({ binary, readyMs: 60_000, env: { SMTP_URL: smtp.url, RATE_LIMITS: "off" } });
});
afterAll(async () => {
  await berth?.[Symbol.asyncDispose]();
  await smtp?.[Symbol.asyncDispose]();
  copy.remove();
});

test("the forms, messages, mails, templates and the console speak it", async () => {
  const page = async (path: string, language: string) =>
    (await fetch(berth.web + path, { headers: { accept: "text/html", "accept-language": language } })).text();
  const form = await page("/login", "fr");
  expect(form).toContain('<html lang="fr">');
  expect(form).toContain("≈Sign in to Berth");
  expect(await page("/nothing", "fr")).toContain("≈Page not found");
  expect(await page("/login", "de")).toContain("Bei Berth anmelden");
  expect(await page("/login", "it")).not.toContain("≈");

  const client = createClient(berth);
  const email = newEmail();
  const made = await client.post("/api/register", { email, password: PASSWORD }, FRENCH);
  expect(made.status).toBe(201);
  expect((await client.post("/api/auth/callback/credentials", { email, password: PASSWORD })).status).toBe(200);
  const [mail] = await smtp.waitForMails(1);
  expect(mail?.parsed.subject).toStartWith("≈");
  expect(mail?.parsed.html).toContain('lang="fr"');

  const { body } = await client.get<{ templates: { name: string }[] }>("/api/templates", FRENCH);
  expect(body.templates[0]?.name).toStartWith("≈");

  await using console = await openConsole(berth, client, { theme: "light", width: 1280, locale: "fr-FR" });
  await console.open("/account/appearance");
  expect(await console.page.locator("html").getAttribute("lang")).toBe("fr");
  await console.page.getByRole("group", { name: "≈Language" }).waitFor();
  await console.page.getByText("Français", { exact: true }).waitFor();
  expect(console.complaints()).toEqual([]);
});
