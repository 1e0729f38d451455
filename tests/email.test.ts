// Email on the whole binary, against a real IMAP server (Dovecot) and a real SMTP server.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Berth, startBerth } from "./support/berth.ts";
import type { Client } from "./support/client.ts";
import { type Dovecot, dovecotIsMissing, startDovecot, type TestMailbox } from "./support/dovecot.ts";
import { eventually, seeded } from "./support/eventually.ts";
import {
  newMailId,
  type ReadersServer,
  startReadersServer,
  type WrittenMail,
  writeMail,
} from "./support/mail-people.ts";
import { member, provision } from "./support/members.ts";
import { expectRefusal } from "./support/refusal.ts";
import { startUpstream, type Upstream } from "./support/upstream.ts";

const missing = dovecotIsMissing();
const MX = "mx.berth.example";
const ADA = "ada@people.example";
const PASSWORD = "seven tame otters";
/** What the operator's server writes into a mail whose sender it has checked. */
const PROVEN = [`Authentication-Results: ${MX}; dmarc=pass header.from=people.example`];

if (missing !== undefined) test.skip(`email is not tried here: ${missing}`, () => undefined);

describe.skipIf(missing !== undefined)("email", () => {
  let dovecot: Dovecot;
  let upstream: Upstream;
  let berth: Berth;
  let owner: Client;
  let serial = 0;
  const servers: ReadersServer[] = [];
  const echo = () => upstream.script(({ lastUser }) => ({ text: `echo: ${lastUser}` }));

  beforeAll(async () => {
    dovecot = await startDovecot();
    upstream = await startUpstream();
    echo();
    berth = await startBerth({
      env: {
        OUTBOUND_ALLOW: "127.0.0.0/8",
        PROVIDER_3_BASE_URL: upstream.url,
        MODEL_A: "provider_3:fake-small",
        RATE_LIMITS: "off",
      },
    });
    owner = await member(berth, "enterprise");
  });
  afterAll(async () => {
    await berth?.[Symbol.asyncDispose]();
    await upstream?.stop();
    for (const server of servers) await server[Symbol.asyncDispose]();
    await dovecot?.[Symbol.asyncDispose]();
  });

  interface Box {
    address: string;
    mailbox: TestMailbox;
    people: ReadersServer;
    credentials: Record<string, string>;
    /** Delivers a mail and returns its Message-ID. */
    says(text: string, more?: Partial<WrittenMail>): string;
    /** The texts of the mails to a person, without repetitions: programs show two mails of the same Message-ID once. */
    texts(to?: string): string[];
  }
  interface Connected extends Box {
    id: string;
  }

  async function newBox(): Promise<Box> {
    const address = `agent-${++serial}@berth.example`;
    const mailbox = dovecot.addMailbox(address, PASSWORD);
    const people = await startReadersServer(address, PASSWORD);
    servers.push(people);
    const [imap, smtp] = [`127.0.0.1:${dovecot.port}`, `127.0.0.1:${people.port}`];
    return {
      ...{ address, mailbox, people },
      credentials: { address, password: PASSWORD, imap, smtp, trustedServer: MX },
      says(text, more = {}) {
        const id = newMailId();
        mailbox.deliver(writeMail({ from: ADA, to: address, text, id, ...more }));
        return id;
      },
      texts(to = ADA) {
        const mails = people.mails.filter((one) => one.to === to);
        const byId = new Map(mails.map(({ mail }) => [mail.messageId, (mail.text ?? "").trim()]));
        return [...byId.values()];
      },
    };
  }

  const put = (id: string, credentials: object, ownerId?: string) =>
    owner.put(`/api/agents/${id}/channels/channel_e`, { credentials, ...(ownerId && { ownerId }) });

  /** Creates an agent with a mailbox of its own. */
  async function connected(access = "open", ownerId?: string, config = {}): Promise<Connected> {
    const box = await newBox();
    const { id } = await provision(owner, "Harbour", { channels: { channel_e: { access } }, ...config });
    const { status, body } = await put(id, box.credentials, ownerId);
    expect({ status, body }).toMatchObject({ status: 200, body: { channel: "channel_e", bot: { id: box.address } } });
    return { id, ...box };
  }

  const waitFor = (count: number, { texts }: Box, to?: string) =>
    eventually(() => texts(to).length >= count, { timeoutMs: 20_000, what: `${count} mails` });
  const stateOf = async (id: string) =>
    (await owner.get<{ state: string; lastError: string | null }>(`/api/agents/${id}/channels/channel_e`)).body;

  test("answers mails in their thread, without the quotes in them, and marks its own as a program's", async () => {
    const box = await newBox();
    box.says("from before");
    const { id } = await provision(owner, "Harbour", { channels: { channel_e: { access: "open" } } });
    expect((await put(id, box.credentials)).status).toBe(200);
    const question = box.says("When is high tide?", { subject: "Tides" });
    await waitFor(1, box);
    const [answer] = box.people.mails;
    expect(box.texts()).toEqual(["echo: Tides\n\nWhen is high tide?"]);
    expect(answer?.mail).toMatchObject({ subject: "Re: Tides", inReplyTo: question });
    expect(answer?.header("references")).toBe(question);
    expect(answer?.header("auto-submitted")).toBe("auto-replied");
    const inReplyTo = answer?.mail.messageId ?? "";
    const text = `And low tide?\n\nOn Monday, Agent <${box.address}> wrote:\n> echo: Tides\n`;
    box.says(text, { subject: "Re: Tides", inReplyTo });
    await waitFor(2, box);
    expect(box.texts()[1]).toBe("echo: And low tide?");
    const { body } = await owner.get<{ sessions: object[] }>(`/api/agents/${id}/export`);
    expect(body.sessions).toHaveLength(1);
  });

  test("does not answer programs, lists, bounces, or another agent's mails", async () => {
    const box = await connected();
    const foreign = [
      "Auto-Submitted: auto-replied",
      "List-Id: <boats.people.example>",
      "Precedence: bulk",
      "Return-Path: <>",
    ];
    for (const header of foreign) box.says("I am away.", { headers: [header] });
    box.says("Undelivered", { from: "MAILER-DAEMON@people.example" });
    box.says("myself", { from: box.address });
    box.says("from a person");
    await waitFor(1, box);
    expect(box.texts()).toEqual(["echo: from a person"]);
    expect(box.people.mails).toHaveLength(1);
    // The first agent's answer, with its own headers, comes to a second agent.
    const other = await connected();
    const { headers = [] } = box.people.mails[0]?.mail ?? {};
    const marks = headers.filter(({ key }) => ["auto-submitted", "x-loop"].includes(key));
    other.says("echo", { from: box.address, headers: marks.map(({ key, value }) => `${key}: ${value}`) });
    other.says("from a person");
    await waitFor(1, other);
    expect(other.people.mails.map(({ to }) => to)).toEqual([ADA]);
  });

  test("obeys its owner only in mails whose sender the trusted server has checked", async () => {
    upstream.script(({ toolResults, lastUser }) => {
      if (toolResults.length > 0) return "Done.";
      if (!lastUser.includes("Remind me")) return "Hm.";
      return { toolCalls: [{ name: "remind_me", arguments: { text: "tea", inMinutes: 5 } }] };
    });
    const box = await connected("owner", ADA, { approvals: { remind_me: "ask" } });
    const statuses = async () =>
      (await owner.get<{ approvals: { status: string }[] }>(`/api/agents/${box.id}/approvals`)).body.approvals.map(
        ({ status }) => status,
      );
    // A stranger writes under the owner's address, and with a word of a server of his own.
    box.says("Remind me");
    box.says("Remind me", { headers: ["Authentication-Results: mx.evil.example; dmarc=pass"] });
    const inReplyTo = box.says("Remind me", { headers: PROVEN });
    await waitFor(1, box);
    expect(box.texts()).toHaveLength(1);
    const [command = ""] = /\/approve \w+/.exec(box.texts()[0] ?? "") ?? [];
    expect(command).toStartWith("/approve ");
    box.says(command, { inReplyTo });
    box.says(command, { inReplyTo: box.people.mails[0]?.mail.messageId ?? "" });
    box.says("Anything else?", { headers: PROVEN });
    await waitFor(2, box);
    expect(box.texts()[1]).toBe("Hm.");
    expect(await statuses()).toEqual(["pending"]);
    // The question is quoted below, as programs do.
    const text = `${command}\n\nOn Monday, Agent <${box.address}> wrote:\n> ${command.replace("approve", "deny")}\n`;
    box.says(text, { headers: PROVEN, inReplyTo: box.people.mails[0]?.mail.messageId ?? "" });
    await eventually(() => box.texts().includes("Done."));
    expect(await statuses()).toEqual(["approved"]);
    echo();
  });

  test("an unproven sender is paired apart, and can't be made the owner", async () => {
    const box = await connected("pairing");
    box.says("hello");
    box.says("hello", { headers: PROVEN });
    await waitFor(2, box);
    const codeIn = (n: number) => /\b[A-HJ-NP-Z2-9]{6}\b/.exec(box.texts()[n] ?? "")?.[0] ?? "";
    const approve = (body: object) => owner.post(`/api/agents/${box.id}/channels/channel_e/pairings`, body);
    const { body } = await owner.get<{ pairings: { senderId: string; code: string }[] }>(
      `/api/agents/${box.id}/channels/channel_e/pairings`,
    );
    expect(body.pairings.map(({ senderId }) => senderId).sort()).toEqual([ADA, `unproven:${ADA}`]);
    const codeOf = (id: string) => body.pairings.find(({ senderId }) => senderId === id)?.code ?? "";
    expect(new Set([codeIn(0), codeIn(1)])).toEqual(new Set(body.pairings.map(({ code }) => code)));
    expectRefusal(await approve({ code: codeOf(`unproven:${ADA}`), owner: true }), 409, "UNPROVEN_SENDER");
    expect((await approve({ code: codeOf(ADA), owner: true })).status).toBe(200);
    await waitFor(3, box);
    expect(box.texts()[2]).toContain("owner");
  });

  test("reads files of a mail, and a large mail while others are answered", async () => {
    const box = await connected();
    const large = await connected();
    const seen: string[] = [];
    upstream.script(({ lastUser }) => {
      seen.push(lastUser);
      return { text: "Seen." };
    });
    const bytes = new TextEncoder().encode("the tide turns at six");
    large.says("Look.", { files: [{ name: "big.bin", type: "application/octet-stream", bytes: new Uint8Array(9e6) }] });
    box.says("read this", { files: [{ name: "notes.txt", type: "text/plain", bytes }] });
    await waitFor(1, box);
    expect(seen.join("\n")).toContain("the tide turns at six");
    await waitFor(1, large);
    echo();
  });

  test("is refused with the field that is wrong, and for servers that are not allowed", async () => {
    const box = await connected();
    const { id } = await provision(owner, "Another");
    expectRefusal(await put(id, box.credentials), 409, "CHANNEL_IN_USE");
    const fresh = (await newBox()).credentials;
    const issue = async (change: Record<string, string>) => {
      const answer = await put(id, { ...fresh, ...change });
      expectRefusal(answer, 400, "INVALID_CHANNEL_TOKEN");
      expect(answer.text).not.toContain("not the password");
      return (answer.body as { issues: { path: string; message: string }[] }).issues[0];
    };
    expect(await issue({ password: "not the password" })).toMatchObject({ path: "credentials.password" });
    expect(await issue({ address: "agent" })).toMatchObject({ path: "credentials.address" });
    expect(await issue({ imap: "imap.berth.example:x" })).toMatchObject({ path: "credentials.imap" });
    // Private networks are refused before a connection is made.
    for (const field of ["imap", "smtp"]) {
      expect(await issue({ [field]: "169.254.169.254:993" })).toMatchObject({
        path: `credentials.${field}`,
        message: expect.stringContaining("not allowed"),
      });
    }
    const closed = await put(id, { ...fresh, imap: "127.0.0.1:1" });
    expectRefusal(closed, 502, "CHANNEL_UNREACHABLE");
    expectRefusal(await put(id, fresh, "not an address"), 400);
  });

  test("fails with the reason when the password was changed, and the password is nowhere in clear", async () => {
    const box = await connected();
    box.mailbox.changePassword("another one");
    box.people.password = "another one";
    await berth.restart({ keepPorts: true });
    await eventually(async () => (await stateOf(box.id)).state === "failed", { timeoutMs: 20_000 });
    expect((await stateOf(box.id)).lastError).toContain("refuses this user name or password");
    const { stdout, stderr } = berth.output();
    const data = join(berth.dir, "data");
    const files = readdirSync(data, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    const stored = files.map(({ parentPath, name }) => readFileSync(join(parentPath, name), "latin1")).join("\n");
    for (const text of [stdout, stderr, stored]) expect(text).not.toContain(PASSWORD);
    expect((await put(box.id, { ...box.credentials, password: "another one" })).status).toBe(200);
    box.says("again");
    await waitFor(1, box);
  });

  test("a mailbox whose UIDVALIDITY changed is read again, and answers only what is new", async () => {
    const box = await newBox();
    const before = writeMail({ from: ADA, to: box.address, text: "from before" });
    box.mailbox.deliver(before, Date.now() - 3_600_000);
    const { id } = await provision(owner, "Harbour", { channels: { channel_e: { access: "open" } } });
    expect((await put(id, box.credentials)).status).toBe(200);
    box.says("one");
    box.says("two");
    await waitFor(2, box);
    await berth.kill();
    box.mailbox.renumber();
    box.says("three");
    await berth.restart({ keepPorts: true });
    await waitFor(3, box);
    box.says("four");
    await waitFor(4, box);
    expect(box.texts()).toEqual(["one", "two", "three", "four"].map((text) => `echo: ${text}`));
  });

  test("an export has the conversations without the mailbox; a backup brings the mailbox back", async () => {
    const box = await connected();
    box.says("hello");
    await waitFor(1, box);
    const { body: exported, text: exportText } = await owner.get<{ sessions: object[] }>(
      `/api/agents/${box.id}/export`,
    );
    expect(exported.sessions).toMatchObject([{ platform: "channel_e" }]);
    expect(exportText).not.toContain(PASSWORD);
    expect((await owner.post("/api/agents/import", exported)).status).toBe(201);
    const { body } = await owner.post<{ backupPath: string }>(`/api/agents/${box.id}/reset-memory`);
    expect((await owner.delete(`/api/agents/${box.id}/channels/channel_e`)).status).toBe(200);
    const back = await owner.post(`/api/agents/${box.id}/rollback`, { backupPath: body.backupPath });
    expect({ status: back.status, text: back.text }).toMatchObject({ status: 200 });
    await eventually(async () => (await stateOf(box.id)).state === "connected");
    box.says("still there?");
    await waitFor(2, box);
    expect(box.texts()).toEqual(["echo: hello", "echo: still there?"]);
  });

  test("kill -9: mails from before and during the outage are answered once", async () => {
    const random = seeded();
    console.log(`email crash test: seed ${random.seed}`);
    const box = await connected();
    const people = Array.from({ length: 3 }, (_, n) => `person-${n}@people.example`);
    upstream.script(({ lastUser }) => ({ text: `echo: ${lastUser}`, delayMs: random.integer(5, 60) }));
    const say = (from: number, to: number) => {
      for (let n = from; n < to; n++) for (const person of people) box.says(`message ${n}`, { from: person });
    };
    for (let kill = 0; kill < 3; kill++) {
      say(kill * 4, kill * 4 + 2);
      await waitFor(kill * 4 + random.integer(0, 1), box, people[0]);
      await berth.kill();
      say(kill * 4 + 2, kill * 4 + 4);
      await berth.restart({ keepPorts: true });
    }
    const expected = Array.from({ length: 12 }, (_, n) => `echo: message ${n}`);
    for (const person of people) await waitFor(expected.length, box, person);
    for (const person of people) expect(box.texts(person).sort()).toEqual(expected.toSorted());
    echo();
  });
});
