// Proves by the history of a fault run that nothing was lost, doubled or put out of order.
import { Database } from "bun:sqlite";
import { existsSync } from "node:fs";
import { SLOW_REPLY } from "../../plugins/runtime/outbox/slow-replies.ts";
import { openNatsEngine } from "../../src/cluster/nats/nats-engine.ts";
import { cellDataDir } from "../../src/server/cells/folders.ts";
import { eventually } from "../support/eventually.ts";
import { type Contents, compareCopies, contentsOf, copiesAtEnd } from "./copies.ts";
import { type Chat, chatOf, chatsOf, isText, type Messages, replyTo, type SignUps, textOf } from "./load.ts";
import { CALLERS, checkBudget, isSpendingIn, type Spending } from "./spending.ts";
import type { World } from "./world.ts";

/** A time in which processes ended or were cut off. */
export interface Interruption {
  fault: string;
  /** Epoch ms. */
  from: number;
  to: number;
}

/** How long, in ms, a send can be on its way when its process ends or is cut off. */
const IN_FLIGHT_MS = 1_000;
/** After a process goes on, or NATS is back: until who was cut off knows it. */
const CUT_OFF_MS = 1_000;

/** For how long, in ms, a node goes on without NATS, and so without recording what it has sent: its lease is trusted for three seconds. */
const TRUST_MS = 3_000;

/** When nodes have given a cell up by themselves, as on a machine that is too busy to renew a lease in time. */
export function fencesOf({ cluster }: World): Interruption[] {
  const lines = cluster.nodes.flatMap((node) => node.output().stderr.split("\n"));
  return lines.flatMap((line) => {
    if (!line.includes('"this node gives the cell up"')) return [];
    const at = Date.parse((JSON.parse(line) as { time: string }).time);
    return [{ fault: "a lease ran out", from: at - TRUST_MS, to: at }];
  });
}

export interface Replies {
  /** Replies that a platform showed twice, each in transit when a process ended. */
  shownTwice: number;
  /** Of each message: when it was sent (epoch ms), and milliseconds until it was answered. */
  waits: { at: number; ms: number }[];
}

/** Every reply came, in the order of its chat; one that came twice was on its way when a process was interrupted. */
export async function checkReplies(
  { ways }: World,
  { sentAt }: Messages,
  interruptions: readonly Interruption[],
): Promise<Replies> {
  const replies: Replies = { shownTwice: 0, waits: [] };
  const all = new Map(await Promise.all(ways.map(async (way) => [way, await way.replies()] as const)));
  for (const [chat, { way, number }] of chatsOf(ways).entries()) {
    const times = sentAt[chat] ?? [];
    // A busy machine tells people after a while that their reply is under way.
    const sent = (all.get(way) ?? []).filter((reply) => reply.chat === number && reply.text !== SLOW_REPLY);
    const firsts = sent.filter(({ text }, at) => sent.findIndex((other) => other.text === text) === at);
    const expected = times.map((_, n) => replyTo(textOf(chat, n)));
    const found = firsts.map(({ text }) => text);
    if (found.join("\n") !== expected.join("\n")) {
      const at = expected.findIndex((text, n) => found[n] !== text);
      throw new Error(
        `Chat ${chat} (${way.name}) got "${found[at]}" where "${expected[at]}" was expected (${found.length} of ${times.length}).`,
      );
    }
    replies.waits.push(...firsts.map(({ at }, n) => ({ at: times[n] ?? 0, ms: at - (times[n] ?? 0) })));
    for (const again of sent.filter((message) => !firsts.includes(message))) {
      replies.shownTwice++;
      const first = firsts.find(({ text }) => text === again.text);
      const at = first?.at ?? 0;
      const isOnItsWay = interruptions.some(({ from, to }) => at >= from - IN_FLIGHT_MS && at <= to + CUT_OFF_MS);
      if (way.isPlatform && isOnItsWay) continue;
      const nearest = interruptions.toSorted((a, b) => Math.abs(a.from - at) - Math.abs(b.from - at))[0];
      throw new Error(
        `"${again.text}" was shown at ${at} and at ${again.at}, and nothing had interrupted its send: ${JSON.stringify(nearest)}`,
      );
    }
  }
  return replies;
}

/** Within so many ms a machine that is cut off has ended its polls: its lease is trusted for three seconds. */
const POLLS_END_MS = 6_000;
/** Tables of NATS that go back may name another owner, and a process that is stopped ends no poll: at any time until all is settled. */
const MAY_LAST = /servers? of NATS|^stop /;

/**
 * At no time do two machines poll one bot, but for one that was stopped or cut off a moment ago, or goes on, and has not noticed yet
 * that another one has taken over.
 */
export async function checkPollers({ telegram }: World, interruptions: readonly Interruption[]): Promise<void> {
  const { conflictsAt } = await telegram.stats();
  const unexplained = unexplainedConflicts(conflictsAt, interruptions);
  if (unexplained.length > 0)
    throw new Error(`Two machines polled a bot at ${unexplained.join(", ")}, and nothing explains it.`);
}

export const unexplainedConflicts = (conflictsAt: readonly number[], interruptions: readonly Interruption[]) =>
  conflictsAt.filter((at) => !interruptions.some((one) => mayConflict(one, at)));

function mayConflict({ fault, from, to }: Interruption, at: number): boolean {
  if (at < from - IN_FLIGHT_MS || at > to + CUT_OFF_MS) return false;
  return MAY_LAST.test(fault) || at <= from + POLLS_END_MS || at >= to - CUT_OFF_MS;
}

/** Each message was one call of the model, and one more for each interruption before its answer at most. */
export function checkCalls({ upstream }: World, waits: Replies["waits"], interruptions: readonly Interruption[]): void {
  // Long conversations are summarised, too.
  const asked = upstream.chats.filter(({ lastUser }) => isText(lastUser)).length;
  const most = mostCalls(waits, interruptions);
  if (asked > most)
    throw new Error(
      `The model was called ${asked} times, and ${waits.length} messages and interruptions explain ${most}.`,
    );
}

/** The most calls of the model that these messages can have. */
export function mostCalls(waits: Replies["waits"], interruptions: readonly Interruption[]): number {
  const attempts = ({ at, ms }: Replies["waits"][number]) =>
    1 + interruptions.filter(({ from, to }) => from <= at + ms + IN_FLIGHT_MS && to + CUT_OFF_MS >= at).length;
  return waits.reduce((sum, wait) => sum + attempts(wait), 0);
}

/**
 * Kills all machines, and reads their files: each message was settled once, all copies of a cell have the same contents at the end
 * of its log, every call of the model is in the ledger, once, no budget was exceeded, and each name is there once.
 */
export async function checkFiles(
  world: World,
  { messages, signUps, spending }: { messages: Messages; signUps: SignUps; spending: Pick<Spending, "budgetUsd"> },
  interruptions: readonly Interruption[],
): Promise<{ inLedgers: number; copies: number; spentUsd: number[] }> {
  const { cluster, cells, ways, upstream } = world;
  const chats = chatsOf(ways);
  const numberOfAgents = [...world.agents.values()].flat().length;
  // An interruption leaves calls in the ledger that it ended before they were sent: not more than one of each agent, and of each caller.
  const unasked = interruptions.length * (numberOfAgents + cells * CALLERS);
  await cluster.followed();
  await Promise.all(cluster.nodes.map((node) => node.kill()));
  const engine = await openNatsEngine({ address: cluster.nats.address, name: "tests" });
  let compared = 0;
  try {
    for (let cell = 0; cell < cells; cell++) {
      const copies = await copiesAtEnd(filesOf(world, cell), await engine.log(cell));
      compareCopies(copies);
      compared += copies.length;
    }
  } finally {
    await engine.close();
  }
  const newest = Array.from({ length: cells }, (_, cell) => newestOf(world, cell));
  let calls = 0;
  for (const [cell, { counts, file }] of newest.entries()) {
    const sum = (isCounted: (chat: Chat) => boolean) =>
      chats.reduce((sum, chat, place) => sum + (isCounted(chat) ? (messages.sentAt[place]?.length ?? 0) : 0), 0);
    const all = sum((chat) => chat.cell === cell);
    const sent = sum((chat) => chat.cell === cell && chat.way.isPlatform);
    const expected = { inbox: all, done: all, answers: all, distinctAnswers: all, sent };
    const { calls: inLedger, ...found } = counts;
    if (JSON.stringify(found) !== JSON.stringify(expected))
      throw new Error(`${file}: expected ${JSON.stringify(expected)}, found ${JSON.stringify(found)}.`);
    const asked = askedFor(world, cell);
    if (inLedger < asked)
      throw new Error(`The model was called ${asked} times for cell ${cell}, and its ledger has ${inLedger} calls.`);
    calls += inLedger;
  }
  if (calls < upstream.chats.length)
    throw new Error(`The model was called ${upstream.chats.length} times, and the ledgers have ${calls} calls.`);
  if (calls > upstream.chats.length + unasked)
    throw new Error(`The model was called ${upstream.chats.length} times, and the ledgers have ${calls} calls.`);
  checkNames(newest, signUps);
  return {
    inLedgers: calls,
    copies: compared,
    spentUsd: newest.map(({ file }) => checkBudget(file, spending.budgetUsd)),
  };
}

/** The calls of the model that are known to be of a cell: all but those that summarise conversations. */
function askedFor({ upstream, ways }: World, cell: number): number {
  const chats = chatsOf(ways);
  return upstream.chats.filter(
    ({ lastUser }) => chats[chatOf(lastUser) ?? -1]?.cell === cell || isSpendingIn(lastUser, cell),
  ).length;
}

const fileOf = (dataDir: string, cell: number) => `${cellDataDir({ dataDir }, cell)}/berth.db`;

/** A node that never had to do with a cell has no copy of it. */
function filesOf({ cluster }: World, cell: number): string[] {
  const files = cluster.nodes.map(({ dir }) => fileOf(`${dir}/data`, cell)).filter((file) => existsSync(file));
  if (files.length < 2) throw new Error(`There are not two copies of cell ${cell} to compare.`);
  return files;
}

function newestOf(world: World, cell: number): Contents {
  const [newest] = filesOf(world, cell)
    .map(contentsOf)
    .toSorted((a, b) => b.number - a.number);
  if (!newest) throw new Error(`There is no copy of cell ${cell}.`);
  return newest;
}

/** Accounts that were acknowledged are there, no address is there twice, and the directory knows where each is. */
function checkNames(copies: readonly Contents[], { made }: SignUps): void {
  const rowsOf = <Row>({ file }: Contents, sql: string): Row[] => {
    const database = new Database(file, { readonly: true });
    try {
      return database.query<Row, []>(sql).all();
    } finally {
      database.close();
    }
  };
  const cellsOf = new Map<string, number[]>();
  for (const [cell, copy] of copies.entries()) {
    for (const { email } of rowsOf<{ email: string }>(copy, "SELECT email FROM users"))
      cellsOf.set(email, [...(cellsOf.get(email) ?? []), cell]);
  }
  const [first] = copies;
  const places = new Map(
    (first
      ? rowsOf<{ name: string; cell: number }>(first, "SELECT name, cell FROM places WHERE kind = 'email'")
      : []
    ).map(({ name, cell }) => [name, cell]),
  );
  for (const { account } of made)
    if (!cellsOf.has(account.email)) throw new Error(`The account of ${account.email} was acknowledged, and is gone.`);
  for (const [email, cells] of cellsOf) {
    if (cells.length > 1) throw new Error(`${email} is in the cells ${cells.join(" and ")}.`);
    const place = places.get(email) ?? 0;
    if (place !== cells[0]) throw new Error(`${email} is in cell ${cells[0]}, and the directory says ${place}.`);
  }
}

/** Until every call of the model has its row in the ledger of its cell's owner. */
export const ledgersWritten = (world: World) =>
  eventually(
    () => {
      let calls = 0;
      for (let cell = 0; cell < world.cells; cell++) {
        const inLedger = newestOf(world, cell).counts.calls;
        if (inLedger < askedFor(world, cell)) return false;
        calls += inLedger;
      }
      return calls >= world.upstream.chats.length;
    },
    { timeoutMs: 60_000, everyMs: 1_000, what: "every call of the model is in a ledger" },
  );
