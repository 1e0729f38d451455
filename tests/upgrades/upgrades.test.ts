// Upgrades the database of each released version with the present program: everything is there, secrets open, agents answer.
import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { startBerth } from "../support/berth.ts";
import { createClient } from "../support/client.ts";
import { temporaryDir } from "../support/process.ts";
import { startTelegram } from "../support/telegram.ts";

const KEY = "upgrade-test-root-key-0123456789abcdef";
const TOKEN = "1001:upgrade-test-token-0123456789abcdefghi";
const PASSWORD = "a-lighthouse-at-night";
const COUNTED = ["users", "agents", "inbox", "messages", "credentials"];

const databases = readdirSync(import.meta.dir).filter((name) => name.endsWith(".db.gz"));
let dir: ReturnType<typeof temporaryDir>;
beforeAll(() => {
  dir = temporaryDir();
});
afterAll(() => dir.remove());

function countsOf(file: string): number[] {
  using database = new Database(file, { readonly: true });
  return COUNTED.map(
    (table) => database.query<{ n: number }, []>(`SELECT count(*) AS n FROM ${table}`).get()?.n ?? Number.NaN,
  );
}

describe.each(databases)("a database of %s", (name) => {
  test("is upgraded with all it has", async () => {
    const folder = join(dir.path, name);
    const file = join(folder, "data/berth.db");
    mkdirSync(join(folder, "data"), { recursive: true, mode: 0o700 });
    writeFileSync(file, gunzipSync(readFileSync(join(import.meta.dir, name))), { mode: 0o600 });
    const before = countsOf(file);
    await using telegram = await startTelegram();
    const bot = telegram.addBot(TOKEN);
    await using berth = await startBerth({
      dir: folder,
      env: { SECRET_KEY: KEY, CHANNEL_A_API_ROOT: telegram.url, RATE_LIMITS: "off" },
    });
    expect(
      readdirSync(join(folder, "data")).filter((one) => /^berth\.db\.before-[^.]+\.\d+\.\d+-\d{4}_\w+$/.test(one)),
    ).toHaveLength(1);
    expect(countsOf(file)).toEqual(before);

    const ada = createClient(berth);
    Object.assign(ada.account, { email: "ada@example.com", password: PASSWORD });
    await ada.signIn();
    const { body } = await ada.get<{ messages: { message: string; status: string; reply: string | null }[] }>(
      "/api/chat",
    );
    expect(body.messages.map(({ message, status }) => [message, status]).sort()).toEqual([
      ["How are you?", "sent"],
      ["Remember that the beacon is green.", "sent"],
    ]);
    expect(body.messages.every(({ reply }) => Boolean(reply))).toBe(true);
    const sent = await ada.post<{ reply: string }>("/api/chat", { message: "And now?" });
    expect([sent.status, Boolean(sent.body.reply)]).toEqual([200, true]);
    // The token of the bot was sealed by the old version. This platform is a new one and counts from the start: the first number was received before.
    for (const text of ["Ahoy", "Ahoy again"]) bot.userSays(42, text);
    await telegram.waitFor(() => bot.sent(42).length > 0, 15_000);
    expect((await berth.command("ledger", "check")).exitCode).toBe(0);
    expect((await berth.command("audit", "verify")).exitCode).toBe(0);
    expect(berth.output().stderr).not.toContain('"level":"error"');
  });
});
