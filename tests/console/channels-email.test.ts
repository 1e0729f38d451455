// A mailbox by hand in Chromium, against real IMAP and SMTP servers: the fields, what is wrong with them, and the first answer.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Berth, startBerth } from "../support/berth.ts";
import type { Client } from "../support/client.ts";
import { type Dovecot, dovecotIsMissing, startDovecot } from "../support/dovecot.ts";
import { eventually } from "../support/eventually.ts";
import { type ReadersServer, startReadersServer, writeMail } from "../support/mail-people.ts";
import { member, provision } from "../support/members.ts";
import { openConsole } from "./support/console.ts";

const ADDRESS = "harbour@berth.example";
const ADA = "ada@people.example";
const missing = dovecotIsMissing();

if (missing !== undefined) test.skip(`email is not tried here: ${missing}`, () => undefined);

describe.skipIf(missing !== undefined)("a mailbox", () => {
  let dovecot: Dovecot;
  let people: ReadersServer;
  let berth: Berth;
  let ada: Client;

  beforeAll(async () => {
    dovecot = await startDovecot();
    people = await startReadersServer(ADDRESS, "the password");
    berth = await startBerth({ env: { OUTBOUND_ALLOW: "127.0.0.0/8", RATE_LIMITS: "off" } });
    ada = await member(berth, "enterprise");
  });
  afterAll(async () => {
    await berth?.[Symbol.asyncDispose]();
    await people?.[Symbol.asyncDispose]();
    await dovecot?.[Symbol.asyncDispose]();
  });

  test("is connected field by field; the owner claims it with a code, in a mail whose sender was checked", async () => {
    const mailbox = dovecot.addMailbox(ADDRESS, "the password");
    const { id } = await provision(ada, "Harbour Master");
    await using console = await openConsole(berth, ada);
    const { page } = console;
    await console.open(`/agents/${id}/channels`);
    await page.getByRole("link", { name: "Connect Email" }).click();
    await page.getByLabel("IMAP server").fill("not a server");
    await page.getByText("Give the name of a server").waitFor();
    for (const [label, value] of [
      ["Address", ADDRESS],
      ["Password", "the password"],
      ["IMAP server", `127.0.0.1:${dovecot.port}`],
      ["SMTP server", `127.0.0.1:${people.port}`],
      ["Server that checks senders", "mx.berth.example"],
    ] as const) {
      await page.getByLabel(label).fill(value);
    }
    await page.getByRole("button", { name: /^Connect/ }).click();
    await page.getByText("Answers in Email").waitFor();
    const link = (await page.locator('a[href^="mailto:"]').getAttribute("href")) ?? "";
    expect(link).toStartWith(`mailto:${ADDRESS}?`);
    const code = new URL(link).searchParams.get("body") ?? "";
    expect(code).toMatch(/^[A-Z2-9]{10}$/);
    const proven = ["Authentication-Results: mx.berth.example; dmarc=pass header.from=people.example"];
    const says = (text: string, headers: string[] = []) =>
      mailbox.deliver(writeMail({ from: ADA, to: ADDRESS, text, headers }));
    // The code of a sender whom nobody has checked is worth nothing.
    says(code);
    await eventually(() => people.mails.length === 1);
    says(code, proven);
    await page.getByText("Owner", { exact: true }).waitFor();
    says("hello", proven);
    await eventually(() => people.mails.some(({ mail }) => mail.text?.startsWith("Hello!")));
    expect(console.complaints()).toEqual([]);
  });
});
