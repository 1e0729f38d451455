// Tests mail against a real SMTP server: delivery, failures, secrecy, and the outbox folder.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import PostalMime from "postal-mime";
import { fileDatabase, type TestDatabase } from "../../../tests/support/database.ts";
import { eventually } from "../../../tests/support/eventually.ts";
import { type Smtp, type SmtpOptions, startSmtp } from "../../../tests/support/smtp.ts";
import { createJobs, type Jobs } from "../jobs/jobs.ts";
import { createVault } from "../security/vault.ts";
import { createLog } from "../telemetry/log.ts";
import { createMailer, type Mailer, type OutgoingMail } from "./mailer.ts";

const baseUrl = "https://berth.example";
const secret = "s3cr3t-link-part-0123456789";
const letter: OutgoingMail = {
  to: "ada@example.com",
  subject: "Choose a new password – schön",
  text: `Hello Ada,\n\nChoose:\n${baseUrl}/reset-password?token=${secret}\n`,
  html: `<p>Hello Ada</p><a href="${baseUrl}/reset-password?token=${secret}">Choose</a>`,
};

let opened: TestDatabase;
let smtp: Smtp | undefined;
let started: { jobs: Jobs; mail: Mailer }[];
let lines: string;
beforeEach(async () => {
  opened = await fileDatabase();
  started = [];
  lines = "";
});
afterEach(async () => {
  for (const { jobs, mail } of started) {
    await jobs.stop(0);
    mail.close();
  }
  await smtp?.stop();
  smtp = undefined;
  await opened.remove();
});

/** The mail services of one process. */
async function process({ url }: { url?: string | undefined } = {}): Promise<{ jobs: Jobs; mail: Mailer }> {
  const log = createLog({ level: "debug", format: "json", write: (line) => (lines += line) });
  const jobs = createJobs({ database: opened.database, log });
  const smtp = { url, from: "Berth <berth@berth.example>" };
  const config = { smtp, baseUrl, dataDir: opened.dir };
  const mail = createMailer({ config, jobs, vault: createVault({ key: "k".repeat(32) }), log });
  started.push({ jobs, mail });
  await jobs.start();
  return { jobs, mail };
}

async function withSmtp(options: SmtpOptions = {}) {
  smtp = await startSmtp(options);
  return { server: smtp, ...(await process({ url: smtp.url })) };
}

const send = (mail: Mailer, more: Partial<OutgoingMail> = {}) =>
  opened.database.write([mail.sendStatement({ ...letter, ...more })]);
const waiting = async () => (await opened.database.read("SELECT state, attempt, max_attempts, payload FROM jobs")).rows;
const doneWith = () => eventually(async () => (await waiting()).length === 0, { timeoutMs: 10_000 });
const warnings = () => lines.split("\n").filter((line) => line.includes('"level":"warn"'));

describe("over SMTP", () => {
  test("both parts arrive once, with all headers", async () => {
    const { server, mail } = await withSmtp();
    await send(mail);
    await doneWith();
    const [one] = await server.waitForMails(1);
    expect(one?.to).toEqual(["ada@example.com"]);
    expect(one?.from).toBe("berth@berth.example");
    expect(one?.parsed).toMatchObject({
      subject: letter.subject,
      from: { name: "Berth", address: "berth@berth.example" },
      to: [{ name: "", address: "ada@example.com" }],
    });
    expect(one?.parsed.text?.trim()).toBe(letter.text.trim());
    expect(one?.parsed.html?.trim()).toBe(letter.html);
    expect(one?.header("auto-submitted")).toBe("auto-generated");
    expect(one?.header("message-id")).toMatch(/^<[0-9a-f-]{36}@berth\.example>$/);
    expect(Math.abs(Date.now() - Date.parse(one?.header("date") ?? ""))).toBeLessThan(60_000);
    expect(server.mails).toHaveLength(1);
  });

  test("the connection is reused, and a burst opens a few", async () => {
    const { server, mail } = await withSmtp();
    await opened.database.write(Array.from({ length: 20 }, () => mail.sendStatement(letter)));
    await doneWith();
    expect(server.mails).toHaveLength(20);
    expect(new Set(server.mails.map((one) => one.header("message-id"))).size).toBe(20);
    expect(server.connections()).toBeLessThanOrEqual(4);
  });

  test.each(["starttls", "always"] as const)("with a login, encrypted: %s", async (tls) => {
    const { server, mail } = await withSmtp({ login: { user: "berth@x", pass: "p@ss/wörd" }, tls });
    await send(mail);
    const [one] = await server.waitForMails(1);
    expect(one).toMatchObject({ secure: true, user: "berth@x" });
  });

  test("a self-signed certificate is not trusted", async () => {
    smtp = await startSmtp({ tls: "starttls" });
    const { mail } = await process({ url: `smtp://127.0.0.1:${smtp.port}` });
    await send(mail);
    await eventually(() => warnings().length > 0);
    expect(smtp.mails).toEqual([]);
  });

  test("a wrong password is logged once, without the password, and the mail waits", async () => {
    smtp = await startSmtp({ login: { user: "berth", pass: "right" } });
    const { mail } = await process({ url: `smtp://berth:wrong-password@127.0.0.1:${smtp.port}` });
    await send(mail);
    const [job] = await eventually(async () => {
      const rows = await waiting();
      return rows[0]?.attempt === 2 ? rows : undefined;
    });
    expect(job?.state).not.toBe("failed");
    expect(warnings()).toHaveLength(1);
    expect(warnings()[0]).toContain("535");
    expect(lines).not.toContain("wrong-password");
  });
});

describe("a mail server in trouble", () => {
  test("that is down delays mails, and nothing else", async () => {
    smtp = await startSmtp();
    const { port, url } = smtp;
    await smtp.stop();
    const { mail } = await process({ url });
    const began = performance.now();
    await send(mail);
    expect(performance.now() - began).toBeLessThan(3_000);
    await eventually(() => warnings().length > 0);
    smtp = await startSmtp({ port });
    await smtp.waitForMails(1);
    await doneWith();
    expect(smtp.mails).toHaveLength(1);
    expect(warnings()).toHaveLength(1);
    expect(lines).toContain("accepts mail again");
  });

  test.each([
    ["refuses to greet", { greeting: 554 }],
    ["is busy", { greeting: 421 }],
    ["defers the recipient", { recipient: 450 }],
    ["goes away at the recipient", { recipient: 421 }],
    ["has no room for the mail", { data: 452 }],
    ["drops the connection", { data: "drop" }],
  ] as const)("that %s is retried", async (_, trouble) => {
    const { server, mail } = await withSmtp();
    server.behave(trouble);
    await send(mail);
    await eventually(() => warnings().length > 0, { timeoutMs: 15_000 });
    server.behave({});
    await server.waitForMails(1);
    await doneWith();
    expect(server.mails).toHaveLength(1);
  });

  test.each([{ recipient: 550 }, { data: 554 }])(
    "that rejects permanently (%j) is logged once, and the mail is dropped",
    async (trouble) => {
      const { server, mail } = await withSmtp();
      server.behave(trouble);
      await send(mail);
      await doneWith();
      expect(warnings()).toHaveLength(1);
      expect(warnings()[0]).toContain("ada@example.com");
      expect(lines).not.toContain(secret);
      server.behave({});
      await send(mail, { to: "grace@example.com" });
      expect((await server.waitForMails(1))[0]?.to).toEqual(["grace@example.com"]);
    },
  );

  test("that never responds does not delay the shutdown, and the mail is kept", async () => {
    const { server, jobs, mail } = await withSmtp();
    server.behave({ greeting: "hang" });
    await send(mail);
    await eventually(() => server.connections() > 0);
    await jobs.stop(0);
    mail.close();
    expect(await waiting()).toMatchObject([{ state: "queued", attempt: 0 }]);
    expect(warnings()).toEqual([]);
    server.behave({});
    await process({ url: server.url });
    await server.waitForMails(1);
  });

  test("a mail is retried for about a day", async () => {
    const { mail } = await process({ url: "smtp://127.0.0.1:1" });
    await send(mail);
    const attempts = Number((await waiting())[0]?.max_attempts);
    // The shortest possible waits between the attempts.
    const waits = Array.from({ length: attempts - 1 }, (_, n) => Math.min(3_600, 2 ** n) / 2);
    expect(waits.reduce((sum, wait) => sum + wait)).toBeGreaterThan(12 * 3_600);
  });
});

test("a mail whose job died after sending is sent again with the same Message-ID", async () => {
  const { server, mail } = await withSmtp();
  const release = server.hold();
  await send(mail);
  await server.waitForMails(1);
  // The next process finds the job as the killed one left it.
  await process({ url: server.url });
  const [first, second] = await server.waitForMails(2);
  release();
  await doneWith();
  expect(second?.header("message-id")).toBe(first?.header("message-id") ?? "");
  expect(second?.header("date")).toBe(first?.header("date") ?? "");
  expect(second?.parsed.text).toBe(first?.parsed.text ?? "");
});

test("a mail whose link has expired is dropped, and that is logged", async () => {
  const { server, mail } = await withSmtp();
  await send(mail, { expiresAt: Date.now() - 1 });
  await doneWith();
  await send(mail, { to: "grace@example.com", expiresAt: Date.now() + 60_000 });
  await server.waitForMails(1);
  await doneWith();
  expect(server.mails.map(({ to }) => to)).toEqual([["grace@example.com"]]);
  expect(warnings()).toHaveLength(1);
  expect(warnings()[0]).toContain("expired before it could be sent");
});

test("the database has no plain text of a mail, and the log no link", async () => {
  const { server, mail } = await withSmtp();
  server.behave({ recipient: 450 });
  await send(mail);
  await eventually(async () => Number((await waiting())[0]?.attempt) > 0);
  const files = readdirSync(opened.dir).filter((name) => name.startsWith("berth.db"));
  const onDisk = files.map((name) => readFileSync(join(opened.dir, name), "latin1")).join();
  expect(onDisk).toContain("mail");
  for (const clear of [secret, "ada@example.com", "reset-password", "Choose a new"])
    expect(onDisk).not.toContain(clear);
  expect(lines).not.toContain(secret);
});

describe("values can't inject headers or commands", () => {
  test.each([
    "Hi\r\nBcc: eve@example.com",
    "Hi\nBcc: eve@example.com\n\nbody",
    "Hi\u2028Bcc: eve@example.com",
    "Hi\r\n\r\n.\r\nRCPT TO:<eve@example.com>",
  ])("a subject %j is one line", async (subject) => {
    const { server, mail } = await withSmtp();
    await send(mail, { subject, text: ".\r\nRCPT TO:<eve@example.com>\r\n..\r\n" });
    const [one] = await server.waitForMails(1);
    expect(one?.to).toEqual(["ada@example.com"]);
    expect(one?.header("bcc")).toBeUndefined();
    expect(one?.parsed.subject).toBe(subject.replace(/[\r\n\u2028]+/g, " "));
    expect(one?.parsed.text?.replaceAll("\r\n", "\n")).toStartWith(".\nRCPT TO:<eve@example.com>\n..\n");
  });

  test.each([
    "ada@example.com\r\nBcc: eve@example.com",
    "ada@example.com, eve@example.com",
    "Ada <eve@example.com>",
    "ada@example.com> SIZE=1 <eve@example.com",
    '"ada@evil.example,x"@example.com',
    "group: eve@example.com;",
    "ada",
    "@example.com",
    "",
  ])("a recipient %j is refused, and no mail is sent", async (to) => {
    const { server, mail } = await withSmtp();
    await send(mail, { to });
    await doneWith();
    expect(server.connections()).toBe(0);
    expect(warnings()).toHaveLength(1);
  });

  test.each([
    ["o'hara+tag@example.com", "o'hara+tag@example.com"],
    ["{odd}|name=1@example.com", "{odd}|name=1@example.com"],
    ["ada@bücher.example", "ada@xn--bcher-kva.example"],
    ["用户@例え.example", "用户@例え.example"],
  ])("the recipient %s gets its mail", async (to, written) => {
    const { server, mail } = await withSmtp();
    await send(mail, { to });
    const [one] = await server.waitForMails(1);
    expect(one?.to).toEqual([to]);
    expect(one?.header("to")).toBe(written);
  });
});

describe("without a mail server", () => {
  const outbox = () => join(opened.dir, "outbox");
  const inOutbox = () => readdirSync(outbox());

  test("each mail becomes one file that only its owner can read, and its link is logged", async () => {
    const { mail } = await process();
    await send(mail);
    await doneWith();
    const [name = "", ...others] = inOutbox();
    expect(others).toEqual([]);
    expect(name).toMatch(/^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z-[0-9a-f-]{36}\.eml$/);
    expect(statSync(outbox()).mode & 0o777).toBe(0o700);
    expect(statSync(join(outbox(), name)).mode & 0o777).toBe(0o600);
    const parsed = await PostalMime.parse(readFileSync(join(outbox(), name)));
    expect(parsed).toMatchObject({ subject: letter.subject, to: [{ address: "ada@example.com" }] });
    expect(parsed.text?.trim()).toBe(letter.text.trim());
    expect(parsed.html?.trim()).toBe(letter.html);
    const infoLines = lines.split("\n").filter((line) => line.includes('"level":"info"'));
    expect(infoLines).toHaveLength(1);
    expect(infoLines[0]).toContain(`${baseUrl}/reset-password?token=${secret}`);
  });

  test("a link to another origin is not logged", async () => {
    const { mail } = await process();
    await send(mail, { text: "https://evil.example/?token=abcdefghijklmnop\n" });
    await doneWith();
    expect(lines).not.toContain("abcdefghijklmnop");
  });

  test("a mail that is written again replaces its file", async () => {
    const { mail } = await process();
    await send(mail);
    await doneWith();
    const [name = ""] = inOutbox();
    const [id = ""] = /[0-9a-f-]{36}(?=\.eml)/.exec(name) ?? [];
    const at = Date.parse(name.slice(0, 24).replace(/T(\d\d)-(\d\d)-(\d\d)-/, "T$1:$2:$3."));
    const vault = createVault({ key: "k".repeat(32) });
    const again = { id, at, letter: vault.seal(JSON.stringify(letter), `mail:${id}`) };
    await opened.database.write([started[0]?.jobs.enqueueStatement("mail", again) ?? mail.sendStatement(letter)]);
    await doneWith();
    expect(inOutbox()).toEqual([name]);
  });

  test("a folder that can't be written is retried", async () => {
    await Bun.write(outbox(), "in the way");
    const { mail } = await process();
    await send(mail);
    await eventually(async () => Number((await waiting())[0]?.attempt) > 0);
    await Bun.file(outbox()).delete();
    await doneWith();
    expect(inOutbox()).toHaveLength(1);
  });
});
