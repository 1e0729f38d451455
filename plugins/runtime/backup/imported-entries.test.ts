// Tests that imported messages are listed like those of the agent itself, and are no turns of it.
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Agent } from "../../agents/index.ts";
import type { Platform } from "../inbox/entries.ts";
import { createTurnCounter } from "../inbox/turn-counter.ts";
import { createMessageList, type ListedMessage } from "../sessions/message-list.ts";
import { newSessionId } from "../sessions/sessions.ts";
import { openRuntimeFixture, type RuntimeFixture } from "../support.test.ts";
import type { MessageRow, SessionRow } from "./backup-rows.ts";
import { addEntries } from "./imported-entries.ts";

let fixture: RuntimeFixture;
beforeAll(async () => {
  fixture = await openRuntimeFixture();
});
afterAll(() => fixture[Symbol.asyncDispose]());

/** A time of the past, in epoch ms. */
const at = (second: number) => Date.UTC(2026, 0, 1, 0, 0, second);
type Said = [session: string, role: MessageRow["role"], content: string, second: number];

/** Imports messages in the given order into one session per platform; a session's name begins with its platform. */
async function importInto({ id }: Agent, said: readonly Said[]): Promise<void> {
  const ids = new Map(said.map(([session]) => [session, newSessionId()]));
  const platformOf = (session: string) => session.split(" ")[0] ?? "";
  const sessions = [...ids].map(
    ([session, id]): SessionRow => ({
      ...{
        id,
        platform: platformOf(session),
        peer: null,
        status: "open",
        summary: null,
        summarized: 0,
        summaryTaint: 0,
      },
      ...{ at: at(0), active: at(9) },
    }),
  );
  const messages = said.map(
    ([session, role, content, second]): MessageRow => ({
      ...{ seq: 0, id: crypto.randomUUID(), session: ids.get(session) ?? "", inbox: "", platform: platformOf(session) },
      ...{ role, content, taint: 0, steps: null, at: at(second) },
    }),
  );
  const pages = Object.fromEntries(
    Object.entries(addEntries(messages)).map(([kind, rows]) => [kind, [JSON.stringify(rows)]]),
  ) as Record<"messages" | "entries", string[]>;
  const { backupRows } = fixture.runtime.service;
  await fixture.kernel.database.write(backupRows.importStatements(id, JSON.stringify(sessions), pages));
}

const CONVERSATIONS: Said[] = [
  ["channel_a", "user", "a1", 1],
  ["web", "user", "w1", 2],
  ["web", "user", "w2", 3],
  ["web", "assistant", "w3", 4],
  ["channel_a", "assistant", "a2", 5],
  ["channel_a", "user", "a3", 6],
  ["channel_a", "assistant", "a4", 7],
  ["channel_b", "assistant", "a reminder", 8],
  ["channel_b", "user", "unanswered", 9],
];
const NEWEST_FIRST = CONVERSATIONS.toReversed().map(
  ([platform, role, content, second]): Omit<ListedMessage, "id" | "turnId"> => ({
    platform: platform as Platform,
    sender: role === "user" ? "user" : "agent",
    content,
    at: at(second),
  }),
);

const listed = async ({ id }: Agent, ...platforms: Platform[]) =>
  (await createMessageList(fixture.kernel).page(id, { limit: 100, offset: 0, platforms })).messages.map(
    ({ id: _, turnId: __, ...rest }) => rest,
  );
const ALL: Platform[] = ["channel_a", "channel_b", "channel_c", "web", "api"];

test("imported messages are listed with their platforms and times, before those that came since", async () => {
  const agent = await fixture.agent();
  await importInto(agent, CONVERSATIONS);
  expect(await listed(agent, ...ALL)).toEqual(NEWEST_FIRST);
  expect(await listed(agent, "channel_b")).toEqual(NEWEST_FIRST.slice(0, 2));
  await fixture.chat(agent, "after the import");
  expect((await listed(agent, ...ALL)).slice(1)).toMatchObject([{ content: "after the import" }, ...NEWEST_FIRST]);
});

test("imported messages are no turns, and none of them waits for an answer", async () => {
  const agent = await fixture.agent();
  await importInto(agent, CONVERSATIONS);
  const counted = Promise.withResolvers<{ total: number; recent: readonly unknown[] }>();
  await createTurnCounter(fixture.kernel)(agent.id, counted.resolve);
  expect(await counted.promise).toMatchObject({ total: 0, recent: [] });
  expect(await fixture.rows("SELECT 1 FROM inbox WHERE agent_id = ? AND status = 'pending'", agent.id)).toEqual([]);
  await fixture.restart();
  await fixture.idle();
  expect(await listed(agent, ...ALL)).toEqual(NEWEST_FIRST);
});

test("a restored backup lists them again, with their replies", async () => {
  const agent = await fixture.agent();
  await importInto(agent, CONVERSATIONS);
  const { backupRows } = fixture.runtime.service;
  const read = async (table: "sessions" | "messages") =>
    String((await fixture.kernel.database.read(backupRows.tables[table], [agent.id])).rows[0]?.[0]);
  const [sessions, seqs] = [await read("sessions"), JSON.parse(await read("messages")) as number[]];
  const pages = (await Array.fromAsync(backupRows.messagePages(seqs))).map((page) => JSON.parse(page) as MessageRow[]);
  const extents = Map.groupBy(pages.flat(), ({ session }) => session);
  const erased = backupRows.erase(agent.id);
  await fixture.kernel.database.write(erased.statements);
  await erased.cleanUp();
  expect(await listed(agent, ...ALL)).toEqual([]);
  const restored = await backupRows.restore(
    agent.id,
    sessions,
    new Map(
      [...extents].map(([id, rows]) => [
        id,
        { count: rows.length, last: rows.at(-1)?.seq ?? 0, lastId: rows.at(-1)?.id ?? "" },
      ]),
    ),
    (async function* () {
      yield* pages;
    })(),
  );
  await fixture.kernel.database.write(restored.statements);
  await restored.cleanUp();
  const replies = (await listed(agent, ...ALL))
    .filter(({ sender }) => sender === "agent")
    .map(({ content }) => content);
  expect(replies).toEqual(["a reminder", "a4", "a2", "w3"]);
});

test("thousands of messages of one moment, or of the future, keep their order", async () => {
  const agent = await fixture.agent();
  const future = (Date.now() - at(0)) / 1000 + 1e6;
  const said = Array.from({ length: 9_000 }, (_, n): Said => ["web", "user", `${n}`, n < 4_500 ? 1 : future]);
  await importInto(agent, said);
  const rows = await fixture.rows("SELECT id, content FROM inbox WHERE agent_id = ? ORDER BY id", agent.id);
  expect(rows.map(({ content }) => content)).toEqual(said.map(([, , content]) => content));
  for (const { id } of rows)
    expect(String(id)).toMatch(/^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
});
