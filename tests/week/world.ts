// The service of the week: the compiled binary on a small disk and in a clock that moves, with customers, bots and a monitor.
import { generateKeyPairSync } from "node:crypto";
import { chmodSync, copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { type Berth, startBerth } from "../support/berth.ts";
import { type Authority, createAuthority } from "../support/certificates.ts";
import type { Client } from "../support/client.ts";
import { type Clock, createClock } from "../support/clock.ts";
import { member, provision } from "../support/members.ts";
import { run } from "../support/process.ts";
import { type SpawnedTelegram, spawnTelegram } from "../support/telegram-control.ts";
import { startUpstream, type Upstream } from "../support/upstream.ts";
import { type Conversations, createConversations } from "./conversations.ts";
import { FAILING_PLUGIN } from "./failing-plugin.ts";

export interface Customer {
  readonly client: Client;
  readonly agentId: string;
  /** Of the agent's bot on Telegram. */
  readonly token: string;
}

export interface World extends AsyncDisposable {
  readonly berth: Berth;
  readonly clock: Clock;
  readonly upstream: Upstream;
  readonly telegram: SpawnedTelegram;
  /** Signed in as an admin. */
  readonly admin: Client;
  readonly ada: Customer;
  readonly bob: Customer;
  /** What people say to the bots, and whether each was answered. */
  readonly talk: Conversations;
  /** The working folder of the service and its commands. */
  readonly folder: string;
  /** Signs releases, in PEM. */
  readonly releaseKey: string;
  /** A folder on another disk than the service's, with `backups/` in it. */
  readonly elsewhere: string;
  /** Issues certificates that the service trusts. */
  readonly authority: Authority;
  /** The file system that has the data folder and nothing else. */
  readonly disk: string;
}

const path = { PATH: process.env.PATH ?? "" };
/** Everybody may write to the bot. A configuration that is put replaces the one before. */
export const OPEN = { channels: { channel_a: { access: "open" } } };
/** So large that no alert of the disk fires while all is well. */
const DISK_MIB = 1_024;

/** `env` is added to the service's settings. Needs root, for the disk. */
export async function startWorld(folder: string, env: Record<string, string> = {}): Promise<World> {
  const disk = join(folder, "disk");
  const elsewhere = join(folder, "elsewhere");
  const binary = join(folder, "bin/berth");
  for (const one of [disk, elsewhere, join(folder, "bin")]) mkdirSync(one, { recursive: true });
  copyFileSync(resolve(import.meta.dir, "../../dist/berth"), binary);
  chmodSync(binary, 0o755);
  const mounted = await run(["mount", "-t", "tmpfs", "-o", `size=${DISK_MIB}m`, "tmpfs", disk], path, folder);
  if (mounted.exitCode !== 0) throw new Error(`A disk of its own needs root: ${mounted.stderr}`);
  const releaseKey = generateKeyPairSync("ed25519").privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  writeFileSync(join(folder, "once.js"), FAILING_PLUGIN);
  const clock = createClock(folder, new Date());
  const authority = await createAuthority(elsewhere);
  const upstream = await startUpstream();
  const telegram = await spawnTelegram("--latency-ms", "5");
  const berth = await startBerth({
    binary,
    dir: folder,
    env: {
      ...clock.env,
      ...path,
      DATA_DIR: join(disk, "data"),
      BACKUP_SCHEDULE: "0 3 * * *",
      BACKUP_CONTINUOUS: "true",
      BACKUP_TO: join(elsewhere, "backups"),
      CHANNEL_A_API_ROOT: telegram.url,
      PROVIDER_5_BASE_URL: upstream.url,
      PROVIDER_5_API_KEY: "sk-week",
      MODEL_A: "provider_5:fake-small",
      // The prices of its models are not known, so that they count as dear ones.
      AI_PLAN_BUDGETS_USD_PER_MONTH: "enterprise:5000",
      AI_UNPAID_BUDGET_USD_PER_DAY: "5000",
      OUTBOUND_ALLOW: "127.0.0.1/32",
      NODE_EXTRA_CA_CERTS: authority.file,
      PLUGINS: "./once.js",
      RATE_LIMITS: "off",
      ...env,
    },
  });
  const admin = await member(berth, "enterprise");
  await berth.command("user", "admin", admin.account.email);
  const ada = await customer(berth, telegram, 1);
  const bob = await customer(berth, telegram, 2);
  const world = { berth, clock, upstream, telegram, admin, ada, bob, folder, releaseKey, elsewhere, authority, disk };
  return {
    ...world,
    talk: createConversations(telegram, [ada.token, bob.token]),
    async [Symbol.asyncDispose]() {
      await berth[Symbol.asyncDispose]();
      await telegram.stop();
      await upstream.stop();
      await run(["umount", "-l", disk], path, folder);
    },
  };
}

async function customer(berth: Berth, telegram: SpawnedTelegram, number: number): Promise<Customer> {
  const client = await member(berth, "enterprise");
  const token = `${100_000 + number}:${"token-of-a-bot-of-the-week".padEnd(35, "x")}`;
  await telegram.addBots([{ token }]);
  const { id: agentId } = await provision(client, `Agent ${number}`, OPEN);
  const { status, text } = await client.put(`/api/agents/${agentId}/channels/channel_a`, { token });
  if (status !== 200) throw new Error(`The bot could not be connected: ${text}`);
  return { client, agentId, token };
}
