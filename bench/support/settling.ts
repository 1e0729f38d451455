// Settles turns through the log of a cell, with the code of its owner and that of a copy which follows: HTTP, the turn engine and the
// model are left out.
import { join } from "node:path";
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { migrations } from "../../migrations/index.ts";
import type { LogEngine } from "../../src/cluster/engine.ts";
import { type CellLog, openCellLog } from "../../src/cluster/log/cell-log.ts";
import { openCopy } from "../../src/cluster/log/copy.ts";
import { createReplicatedCommit } from "../../src/cluster/log/replicated-commit.ts";
import type { NatsAddress } from "../../src/cluster/nats/nats-address.ts";
import { openNatsEngine } from "../../src/cluster/nats/nats-engine.ts";
import { startFollower } from "../../src/cluster/ownership/follower.ts";
import type { Statement } from "../../src/kernel/database/database.ts";
import { openFile } from "../../src/kernel/database/local-engine.ts";
import type { Commit, Outcome } from "../../src/kernel/database/write-queue.ts";
import { silent } from "../../tests/support/database.ts";
import { placeMigratedDatabase } from "../../tests/support/migrated.ts";
import { bun, temporaryDir } from "../../tests/support/process.ts";
import { median } from "./figures.ts";

const AGENTS = 25;
const CONVERSATIONS = 4_000;
const knownMigrations = new Set(migrations.map(({ name }) => name));
const statement = (sql: string, ...args: Statement["args"]): Statement => ({ sql, args });

const people = (now: number): Statement[] => [
  statement(
    "INSERT INTO users (id, email, name, plan, referral_code, created_at, updated_at) VALUES ('u', 'u@example.com', 'U', 'enterprise', 'U', ?1, ?1)",
    now,
  ),
  ...Array.from({ length: AGENTS }, (_, n) =>
    statement(
      `INSERT INTO agents (id, user_id, name, model, status, wanted, subdomain, runtime_version, started_at, created_at, updated_at)
       VALUES (?1, 'u', ?1, 'model_a', 'running', 'up', ?1, '1', ?2, ?2, ?2)`,
      `agent-${n}`,
      now,
    ),
  ),
  ...Array.from({ length: CONVERSATIONS }, (_, n) =>
    statement(
      "INSERT INTO sessions (id, agent_id, platform, peer, message_count, created_at, last_activity_at) VALUES (?1, ?2, 'api', ?1, 0, ?3, ?3)",
      `sess-${n}`,
      `agent-${n % AGENTS}`,
      now,
    ),
  ),
];

/** What a turn writes: its message, which is done, both messages of the conversation, the ledger's row and the event. */
function turnOf(n: number, now: number): Statement[] {
  const conversation = (n * 7_919) % CONVERSATIONS;
  const [session, agent, id] = [`sess-${conversation}`, `agent-${conversation % AGENTS}`, Bun.randomUUIDv7()];
  const text = "What the harbour said on its day, and what the ships made of it.";
  return [
    statement(
      `INSERT INTO inbox (id, agent_id, session_id, platform, peer, sender_id, sender_name, by_owner, content, topic, status, received_at)
       VALUES (?1, ?2, ?3, 'api', ?3, 'u', '', 1, ?4, ?3, 'pending', ?5)`,
      ...[id, agent, session, text, now],
    ),
    statement(
      "UPDATE inbox SET status = 'done', settled_at = ?3 WHERE agent_id = ?1 AND id = ?2 AND status = 'pending'",
      ...[agent, id, now],
    ),
    statement(
      `INSERT INTO messages (id, session_id, agent_id, inbox_id, platform, role, content, created_at)
       VALUES (?1, ?2, ?3, ?4, 'api', 'user', ?5, ?6), (?7, ?2, ?3, ?4, 'api', 'assistant', ?5, ?6)`,
      ...[`${id}-q`, session, agent, id, text, now, `${id}-a`],
    ),
    statement(
      "UPDATE sessions SET message_count = message_count + 2, last_activity_at = ?2 WHERE id = ?1",
      ...[session, now],
    ),
    statement(
      `INSERT INTO usage (id, at, kind, user_id, agent_id, provider, model, input_tokens, output_tokens, cost_micro_usd, latency_ms, estimated)
       VALUES (?1, ?2, 'turn', 'u', ?3, 'provider_3', 'fake-small', 20, 10, 0, 5, 0)`,
      ...[id, now, agent],
    ),
    statement(
      "INSERT INTO events (id, type, user_id, agent_id, data, created_at) VALUES (?1, 'agent.message', 'u', ?2, '{}', ?3)",
      ...[id, agent, now],
    ),
  ];
}

export interface Settled {
  /** Turns a second through the log, with a copy that follows in a process of its own. */
  throughLog: number;
  /** The same on a file alone. */
  onFile: number;
  /** Milliseconds until an entry is in the log, median. */
  appendMs: number;
}

/** Settles turns, `group` in a commit, one commit after the other, for `ms` each way. */
export async function settleTurns({ engine, address, cell, group, ms }: SettleOptions): Promise<Settled> {
  const [own, copied, alone] = await Promise.all([openMigrated(), openMigrated(), openMigrated()]);
  const child = Bun.spawn([bun, import.meta.path, JSON.stringify({ address, cell, file: copied.file })], {
    stderr: "inherit",
    ipc: () => undefined,
  });
  const storage = openFile(own.file, knownMigrations, silent);
  const plain = openFile(alone.file, knownMigrations, silent);
  try {
    const log = openCellLog(engine, 0, new AbortController().signal);
    const waits: number[] = [];
    const timed: CellLog = {
      get last() {
        return log.last;
      },
      async append(entry) {
        const began = performance.now();
        const place = await log.append(entry);
        waits.push(performance.now() - began);
        return place;
      },
    };
    const { commit } = createReplicatedCommit(timed, await openCopy(storage, CLUSTER));
    // As a database does: a commit ends after 8 ms, and the rest is the next one; checkpoints begin between two.
    const onFile: Commit = async (batches) => {
      const outcomes: Outcome[] = [];
      while (outcomes.length < batches.length) {
        outcomes.push(...(await plain.commit(batches.slice(outcomes.length))));
        plain.afterCommit();
        await yieldToEventLoop();
      }
      return outcomes;
    };
    const throughLog = await settle(commit, group, ms);
    return { throughLog, onFile: await settle(onFile, group, ms), appendMs: median(waits) };
  } finally {
    child.kill();
    await Promise.all([storage.close(), plain.close(), child.exited]);
    for (const { remove } of [own, copied, alone]) remove();
  }
}

interface SettleOptions {
  engine: LogEngine;
  /** Of NATS, for the process of the copy. */
  address: NatsAddress;
  cell: number;
  group: number;
  ms: number;
}

const CLUSTER = "bench";

async function openMigrated() {
  const { path, remove } = temporaryDir();
  await placeMigratedDatabase(path);
  return { file: join(path, "berth.db"), remove };
}

async function settle(commit: Commit, group: number, ms: number): Promise<number> {
  const write = async (batches: Statement[][]) => {
    const failed = (await commit(batches)).find((outcome) => "error" in outcome);
    if (failed && "error" in failed) throw failed.error;
  };
  await write([people(Date.now())]);
  let turns = 0;
  const began = performance.now();
  while (performance.now() - began < ms) {
    const now = Date.now();
    await write(Array.from({ length: group }, () => turnOf(turns++, now)));
  }
  return (turns * 1_000) / (performance.now() - began);
}

/** The process of the copy: follows until it is killed. */
async function follow({ address, cell, file }: { address: NatsAddress; cell: number; file: string }): Promise<void> {
  const engine = await openNatsEngine({ address, name: "bench" });
  await startFollower({
    ...{ engine: await engine.log(cell), file, cluster: CLUSTER, knownMigrations, log: silent },
    onBroken(error) {
      throw error;
    },
  });
}

if (import.meta.main) await follow(JSON.parse(process.argv[2] ?? "{}"));
