// Readers that come while it is asked whether a turn is over.
import { expect, test } from "bun:test";
import type { Agent } from "../../agents/index.ts";
import type { StoredOutcome } from "../conversations/turn-list.ts";
import { createLiveTurns } from "./live-turns.ts";
import { createTurnStream } from "./turn-stream.ts";

const TURN = "0199";
const agent = { id: "harbour" } as Agent;
const log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined } as never;
const done: StoredOutcome = {
  status: "done",
  sessionId: "s",
  error: null,
  reply: { text: "Ahoy.", at: 0, files: [] },
} as never;

test("all get its end, though the first of them asks", async () => {
  const { promise: outcome, resolve: answer } = Promise.withResolvers<StoredOutcome>();
  const liveTurns = createLiveTurns({ showInput: (input) => input, showText: (text) => text });
  const stream = createTurnStream({
    log,
    liveTurns,
    turnList: { outcome: () => outcome },
    recallSuspended: () => Promise.resolve(),
  });
  const read = async () => Array.fromAsync(await stream.events(agent, TURN, AbortSignal.timeout(5_000)));
  const readers = [read(), read(), read()];
  answer(done);
  for (const events of await Promise.all(readers)) {
    expect(events.map(({ event }) => event)).toEqual(["reply", "end"]);
  }
  expect(liveTurns.size()).toBe(0);
});
