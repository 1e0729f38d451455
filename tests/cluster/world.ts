// A cluster with accounts and bots in each of its cells, and what it talks to.
import { cellOfId } from "../../src/kernel/cells/marks.ts";
import type { Client } from "../support/client.ts";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { eventually, seeded } from "../support/eventually.ts";
import { member, provision } from "../support/members.ts";
import { type SpawnedTelegram, spawnTelegram } from "../support/telegram-control.ts";
import { startUpstream, type Upstream } from "../support/upstream.ts";
import { spawnWhatsApp } from "../support/whatsapp-control.ts";
import { settled } from "./faults.ts";
import { PLATFORM, PROVIDER } from "./network-faults.ts";
import { isSpending, SPENT_TOKENS } from "./spending.ts";
import { openApi } from "./ways/api.ts";
import { openTelegram } from "./ways/telegram.ts";
import type { Way } from "./ways/way.ts";
import { openWhatsApp, WHATSAPP_ENV } from "./ways/whatsapp.ts";

export interface World extends AsyncDisposable {
  cluster: Cluster;
  cells: number;
  telegram: SpawnedTelegram;
  upstream: Upstream;
  /** How people write to agents. */
  ways: readonly Way[];
  /** One account in each cell, by cell. */
  accounts: ReadonlyMap<number, Client>;
  /** The agents of each of these accounts, by cell; the first has no bot, and the load renames it. */
  agents: ReadonlyMap<number, readonly string[]>;
}

export interface WorldOptions {
  nodes: number;
  natsServers: number;
  cells: number;
  seed: number;
  /** Default: `dist/berth`. */
  binary?: string;
  /** The machines' clocks can be set. */
  hasClocks?: boolean;
  /** The disks of NATS' servers can be filled, and all disks be slow. */
  hasDisks?: boolean;
}

/** It has a price: calls that are free are not in the ledger after a crash. */
const MODEL = "gpt-4o-mini";
/** Of the agents that the load renames. */
export const FIRST_NAME = "Name 0";
const NATS_DISK_MIB = 1_024;

export async function startWorld({
  nodes,
  natsServers,
  cells,
  seed,
  binary,
  hasClocks = false,
  hasDisks = false,
}: WorldOptions): Promise<World> {
  await using undo = new AsyncDisposableStack();
  const upstream = await startUpstream({ models: [MODEL] });
  undo.defer(() => upstream.stop());
  // The choice of faults has numbers of its own: how often the model is asked depends on the machine.
  const random = seeded(seed);
  upstream.script(({ lastUser }) => ({
    text: `echo: ${lastUser}`,
    delayMs: random.integer(0, 60),
    ...(isSpending(lastUser) && { usage: SPENT_TOKENS }),
  }));
  const telegram = undo.use(await spawnTelegram("--latency-ms", "5"));
  const whatsapp = undo.use(await spawnWhatsApp("--latency-ms", "5"));
  const cluster = undo.use(
    await startCluster({
      nodes,
      natsServers,
      hasGates: true,
      canReplaceNats: true,
      hasClocks,
      ...(binary !== undefined && { binary }),
      ...(hasDisks && { natsDiskMib: NATS_DISK_MIB }),
      outside: { [PLATFORM]: telegram.url, [PROVIDER]: upstream.url },
      env: {
        PROVIDER_5_API_KEY: "sk-operator",
        MODEL_A: `provider_5:${MODEL}`,
        CHANNEL_C_API_ROOT: whatsapp.url,
        ...WHATSAPP_ENV,
        RATE_LIMITS: "off",
      },
    }),
  );
  const { engine } = await cluster.status();
  if (natsServers >= 3 && !engine.endsWith("R3")) throw new Error(`NATS keeps too few copies: ${engine}`);
  if (cells > 1) await cluster.command("cluster", "cells", String(cells));
  await settled({ cluster, cells });
  const accounts = await accountsOf(cluster, cells);
  const agents = new Map<number, string[]>();
  for (const [cell, account] of accounts) agents.set(cell, [(await provision(account, FIRST_NAME)).id]);
  const options = { cluster, accounts, agents };
  const ways = [await openTelegram(telegram, options), await openWhatsApp(whatsapp, options), openApi(options)];
  await settled({ cluster, cells });
  const ended = undo.move();
  return {
    ...{ cluster, cells, telegram, upstream, ways, accounts, agents },
    [Symbol.asyncDispose]: () => ended[Symbol.asyncDispose](),
  };
}

/** Makes accounts until each cell has one: cell 0 knows of a new cell a moment after the cell is there. */
async function accountsOf(cluster: Cluster, cells: number): Promise<Map<number, Client>> {
  const accounts = new Map<number, Client>();
  await eventually(
    async () => {
      const client = await member(cluster, "enterprise");
      const { body } = await client.get<{ user: { id: string } }>("/api/auth/session");
      const cell = cellOfId(body.user.id);
      if (!accounts.has(cell)) accounts.set(cell, client);
      return accounts.size === cells;
    },
    { timeoutMs: 60_000, everyMs: 500, what: "each cell has an account" },
  );
  return accounts;
}
