// Tests the checks of `berth doctor --online` against real servers on this machine: mail, providers, TLS, disk and backups.
import { Database } from "bun:sqlite";
import { afterEach, describe, expect, test } from "bun:test";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { selfSigned } from "../../../../tests/support/certificates.ts";
import { temporaryDir } from "../../../../tests/support/process.ts";
import { startSmtp } from "../../../../tests/support/smtp.ts";
import { STRIPE_KEY, startStripe } from "../../../../tests/support/stripe.ts";
import { loadConfig } from "../../../kernel/config/config.ts";
import { DAY } from "../../../kernel/util/time.ts";
import { allSettings } from "../../settings.ts";
import { checkClock } from "./machine-checks.ts";
import { onlineReport } from "./online-report.ts";

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

function folder(): string {
  const dir = temporaryDir();
  closing.push(dir.remove);
  return dir.path;
}

function serve(answer: (request: Request) => Response, tls?: { key: string; cert: string }): string {
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: answer, ...(tls && { tls }) });
  closing.push(() => server.stop(true));
  return `http${tls ? "s" : ""}://127.0.0.1:${server.port}`;
}

const report = async (env: Record<string, string> = {}, dir = folder()) =>
  onlineReport(loadConfig({ DATA_DIR: dir, ...env }, { cwd: dir, dotenv: false, settings: allSettings }), undefined);

/** The line that begins with these words, and what it says to do. */
function lineOf(text: string, start: string): string[] {
  const lines = text.split("\n");
  const at = lines.findIndex((line) => line.slice(2).startsWith(start));
  return lines[at + 1]?.startsWith("  → ") ? lines.slice(at, at + 2) : lines.slice(at, at + 1);
}

describe("mail", () => {
  test("a server that accepts the password is good, and gets no mail", async () => {
    const smtp = await startSmtp({ login: { user: "berth", pass: "canary-mail-pass" } });
    closing.push(smtp.stop);
    const { text } = await report({ SMTP_URL: smtp.url, MAIL_FROM: "Berth <berth@example.com>" });
    expect(lineOf(text, "Mail:")).toEqual([
      `✓ Mail: 127.0.0.1:${smtp.port} accepts the connection and the password. No mail was sent.`,
    ]);
    expect(smtp.mails).toEqual([]);
    expect(text).not.toContain("canary");
  });

  test("a wrong password is told from a server that is away, and is not shown", async () => {
    const smtp = await startSmtp({ login: { user: "berth", pass: "right" } });
    const url = smtp.url.replace(":right@", ":canary-wrong@");
    const refused = await report({ SMTP_URL: url, MAIL_FROM: "berth@example.com" });
    expect(refused.exitCode).toBe(1);
    expect(lineOf(refused.text, "Mail:").join("\n")).toMatch(
      /^✗ .*can't be used: .*535.*\n {2}→ Correct the user and the password/,
    );
    expect(refused.text).not.toContain("canary");
    await smtp.stop();
    const away = await report({ SMTP_URL: url, MAIL_FROM: "berth@example.com" });
    expect(lineOf(away.text, "Mail:").join("\n")).toMatch(/^✗ .*ECONNREFUSED.*\n {2}→ Check name and port/);
  });

  test("without a server, it says where mails go", async () => {
    const { text, exitCode } = await report();
    expect(lineOf(text, "Mail:").join("\n")).toMatch(/^! .*DATA_DIR\/outbox\.\n {2}→ Set SMTP_URL/);
    expect(exitCode).toBe(0);
  });
});

describe("providers", () => {
  test.each([
    [200, /^✓ Provider \S.* lists its models\.$/],
    [401, /^✗ .*does not accept the key\.\n {2}→ Put a valid key into PROVIDER_5_API_KEY\.$/],
    [402, /^✗ .*no credit\.\n {2}→ Add credit there\.$/],
    [503, /^✗ .*problem of its own \(status 503\)\.\n/],
    [404, /^! .*status 404.*\n {2}→ Check PROVIDER_5_BASE_URL/],
  ])("status %d", async (status, expected) => {
    const asked: string[] = [];
    const url = serve((request) => {
      asked.push(`${new URL(request.url).pathname} ${request.headers.get("authorization")}`);
      return Response.json({ data: [] }, { status });
    });
    const { text } = await report({ PROVIDER_5_BASE_URL: `${url}/v1`, PROVIDER_5_API_KEY: "sk-canary-1234567890" });
    expect(lineOf(text, "Provider ").join("\n")).toMatch(expected);
    expect(asked).toEqual(["/v1/models Bearer sk-canary-1234567890"]);
    expect(text).not.toContain("canary");
    expect(text).toContain("no service runs here");
  });

  test("one that can't be reached, and none at all", async () => {
    const { text, exitCode } = await report({ PROVIDER_3_BASE_URL: "http://127.0.0.1:9/v1" });
    expect(lineOf(text, "Provider ").join("\n")).toMatch(/^✗ .*can't be reached: .*\n {2}→ Check PROVIDER_3_BASE_URL/);
    expect(exitCode).toBe(1);
    expect((await report()).text).toContain("→ Set the key of a provider, such as PROVIDER_1_API_KEY");
  });
});

describe("domains", () => {
  test("a certificate of nobody's is refused, and something that is not Berth is told", async () => {
    const BASE_URL = serve(() => new Response("nginx"), await selfSigned());
    const { text, exitCode } = await report({ BASE_URL });
    expect(lineOf(text, "Domains: the certificate").join("\n")).toMatch(
      /^✗ .*is not valid: .*\n {2}→ Give the proxy a certificate/,
    );
    expect(exitCode).toBe(1);
  });

  test("Berth's own answer is recognized; another's, or none, says what to do", async () => {
    const berth = serve(() => Response.json({ status: "ok" }));
    expect(lineOf((await report({ BASE_URL: berth })).text, "Domains: Berth")).toEqual([
      `✓ Domains: Berth answers at ${berth}.`,
    ]);
    const other = serve(() => new Response("nginx"));
    expect(lineOf((await report({ BASE_URL: other })).text, "Domains: something").join()).toContain(
      "→ Start the service",
    );
    const none = await report({ BASE_URL: "http://127.0.0.1:9" });
    expect(lineOf(none.text, "Domains: nothing").join()).toContain("→ Start the service");
  });

  test("a name without an address is an error", async () => {
    const { text, exitCode } = await report({ BASE_URL: "https://berth.invalid" });
    expect(lineOf(text, "Domains: berth.invalid").join("\n")).toMatch(
      /^✗ .*has no address.*\n {2}→ Make the DNS record/,
    );
    expect(exitCode).toBe(1);
  });
});

test("the clock is compared with the server that differs least", () => {
  expect(checkClock([])).toMatchObject({ level: "note" });
  expect(checkClock([900, -400_000])).toMatchObject({ level: "good" });
  expect(checkClock([90_000, 90_500])).toMatchObject({ level: "warning", text: "Clock: it is 90 s ahead." });
  expect(checkClock([-400_000])).toMatchObject({ level: "broken", text: "Clock: it is 400 s behind." });
});

describe("backups and disk", () => {
  function backUp(dir: string, at: number, write: (path: string) => void) {
    mkdirSync(join(dir, "database-backups"), { recursive: true });
    const name = `berth-${new Date(at).toISOString().replace(/[:.]/g, "-")}.db`;
    write(join(dir, "database-backups", name));
  }
  const database = (path: string) => {
    using made = new Database(path);
    made.run("CREATE TABLE migrations (name TEXT)");
    made.run("INSERT INTO migrations VALUES ('0001')");
  };

  test("the newest backup is opened, and its age is shown", async () => {
    const dir = folder();
    backUp(dir, Date.now() - 20 * DAY, database);
    expect(lineOf((await report({}, dir)).text, "Backups:").join("\n")).toMatch(
      /^! .*is 20 days old.*\n {2}→ Make one/,
    );
    backUp(dir, Date.now(), database);
    expect(lineOf((await report({}, dir)).text, "Backups:")).toEqual([
      "✓ Backups: the newest is from today, and can be opened.",
    ]);
    backUp(dir, Date.now() + 1_000, (path) => writeFileSync(path, "torn"));
    const torn = await report({}, dir);
    expect(lineOf(torn.text, "Backups:").join("\n")).toMatch(/^✗ .*can't be opened.*\n {2}→ Make one/);
    expect(torn.exitCode).toBe(1);
  });

  test("one that failed says why, and the advice fits the settings", async () => {
    const dir = folder();
    using made = new Database(join(dir, "berth.db"));
    made.run("CREATE TABLE backup_runs (started_at INTEGER, ended_at INTEGER, name TEXT, bytes INTEGER, error TEXT)");
    made.run("INSERT INTO backup_runs VALUES (1, 1764000000000, 'x', NULL, 'The folder can''t be written.')");
    const failed = await report({ BACKUP_SCHEDULE: "0 3 * * *" }, dir);
    expect(lineOf(failed.text, "Backups:").join("\n")).toMatch(
      /^✗ Backups: the last one failed at 2025-11-24T16:00:00\.000Z: The folder can't be written\.\n {2}→ Remove the reason/,
    );
    expect(failed.exitCode).toBe(1);
    const none = await report({ BACKUP_SCHEDULE: "0 3 * * *" });
    expect(none.text).not.toContain("set BACKUP_SCHEDULE");
    expect(none.text).toContain("by BACKUP_SCHEDULE");
  });

  test("none, and the space of the disk", async () => {
    const { text } = await report();
    expect(lineOf(text, "Backups:").join("\n")).toMatch(/^! Backups: there is none at.*\n {2}→ Make one/);
    expect(lineOf(text, "Disk:")[0]).toMatch(/^. Disk: \d+ MiB of \d+ MiB are free \(\d+ %\)\.$/);
  });
});

describe("the target of the audit log", () => {
  const audit = async (AUDIT_TO: string, env: Record<string, string> = {}) => {
    const { text, exitCode } = await report({ AUDIT_TO, ...env });
    return { line: lineOf(text, "Audit log:").join("\n"), exitCode, text };
  };

  test("is not there without AUDIT_TO", async () => {
    expect((await report()).text).not.toContain("Audit log");
  });

  test("a file is opened, and gets nothing", async () => {
    const path = join(folder(), "audit.jsonl");
    expect(await audit(`file:${path}`)).toMatchObject({
      line: `✓ Audit log: file:${path} can be written.`,
      exitCode: 0,
    });
    expect(readFileSync(path, "utf8")).toBe("");
    const missing = await audit(`file:${join(path, "x")}`);
    expect(missing.line).toMatch(/^✗ .*can't be used: .*ENOTDIR.*\n {2}→ Make its folder/);
    expect(missing.exitCode).toBe(1);
  });

  test.each([
    [204, /^✓ .*accepts a list without entries\.$/],
    [401, /^✗ .*does not accept the token\.\n {2}→ Correct AUDIT_TOKEN\.$/],
    [400, /^· .*answers, and refuses a list without entries \(status 400\)\.$/],
    [404, /^✗ .*answers with status 404\.\n {2}→ Check the address/],
  ])("a webhook that answers %d", async (status, expected) => {
    const asked: string[] = [];
    const url = serve((request) => {
      asked.push(`${request.method} ${request.headers.get("authorization")}`);
      return new Response(null, { status });
    });
    const { line, text } = await audit(`${url}/hook`, { AUDIT_TOKEN: "canary-token" });
    expect(line).toMatch(expected);
    expect(asked).toEqual(["POST Bearer canary-token"]);
    expect(text).not.toContain("canary");
  });

  test("a syslog server is called by TCP; by UDP, only its name is looked up", async () => {
    const syslog = createServer().listen(0, "127.0.0.1");
    await once(syslog, "listening");
    const address = syslog.address();
    const port = typeof address === "object" && address ? address.port : 0;
    expect((await audit(`syslog+tcp://127.0.0.1:${port}`)).line).toMatch(/^✓ .*accepts a connection\.$/);
    syslog.close();
    await once(syslog, "close");
    expect((await audit(`syslog+tcp://127.0.0.1:${port}`)).line).toMatch(
      /^✗ .*ECONNREFUSED.*\n {2}→ Check name and port/,
    );
    expect((await audit("syslog+udp://127.0.0.1")).line).toMatch(/^· .*UDP does not tell\.$/);
  });
});

describe("payments", () => {
  const price = { STRIPE_SECRET_KEY: STRIPE_KEY, STRIPE_WEBHOOK_SECRET: "whsec_1", CREDIT_PRICE: "usd:120" };

  test("Stripe is asked for an event; a refused key is told from silence", async () => {
    const stripe = startStripe({});
    closing.push(stripe.stop);
    const stripeLine = async (env: Record<string, string>) =>
      lineOf((await report({ ...price, STRIPE_API_URL: stripe.url, ...env })).text, "Stripe").join("\n");
    expect(await stripeLine({})).toBe("✓ Stripe answers, and lists its events.");
    expect(await stripeLine({ STRIPE_SECRET_KEY: "sk_test_other" })).toMatch(
      /^✗ Stripe does not accept the key\.\n {2}→ Put a valid key into STRIPE_SECRET_KEY/,
    );
    expect(await stripeLine({ STRIPE_API_URL: "http://127.0.0.1:9" })).toMatch(
      /^✗ Stripe does not answer as it should: .*\n {2}→ Look at its status page/,
    );
  });

  test("the chain of stablecoin payments is asked for its id", async () => {
    let chain = "0x2105";
    const url = serve(() => Response.json({ jsonrpc: "2.0", id: 1, result: chain }));
    const ask = async (MAINNET_RPC_URL: string) => {
      const { text } = await report({ STABLECOIN_PAY_TO: `0x${"1".repeat(40)}`, MAINNET_RPC_URL });
      expect(text).not.toContain("canary");
      return lineOf(text, "Stablecoin:").join("\n");
    };
    expect(await ask(`${url}/canary-key`)).toMatch(/^✓ Stablecoin: mainnet_chain at 127\.0\.0\.1:\d+ answers\.$/);
    chain = "0x1";
    expect(await ask(url)).toMatch(/^✗ .*is chain 1, and should be 8453\.\n {2}→ Check MAINNET_RPC_URL/);
    expect(await ask("http://127.0.0.1:9/canary-key")).toMatch(/^✗ .*does not answer: .*\n {2}→ Check MAINNET_RPC_URL/);
  });
});
