// Tests that a log which begins anew loses nothing that a later owner has written, whenever its former owner is stopped or held up.
import { describe, expect, test } from "bun:test";
import { EngineUnavailable, type LogEngine, Moved } from "../engine.ts";
import { createMemoryLog } from "../memory-engine.ts";
import { restartMessage } from "./cell-log.ts";
import { finishRestart, restartLog } from "./restart.ts";

const bytes = (text: string) => new Uint8Array(Buffer.from(text));
const text = (found: Uint8Array | undefined) => found && Buffer.from(found).toString();

/** A log that has lost all but its first message, whose owner had ten. */
async function shortLog() {
  const engine = createMemoryLog();
  await engine.append(0, bytes("one"));
  return engine;
}

/** A step of the former owner reaches the engine only when `go` is called. */
function heldUp(engine: LogEngine, step: "append" | "trim") {
  const { promise, resolve } = Promise.withResolvers<void>();
  const arrived = Promise.withResolvers<void>();
  const slow: LogEngine = {
    ...engine,
    async [step](...args: [never, never]) {
      arrived.resolve();
      await promise;
      return (engine[step] as (...given: [never, never]) => Promise<never>)(...args);
    },
  };
  return { slow, arrived: arrived.promise, go: resolve };
}

describe("a log that begins anew", () => {
  test("goes on after the last entry of the file", async () => {
    const engine = await shortLog();
    await restartLog(engine, 10, await engine.bounds());
    expect(await engine.bounds()).toMatchObject({ first: 11, last: 10 });
    expect(await engine.append(10, bytes("eleven"))).toBe(11);
  });

  test("stays as it is if another node has appended since, although this one believed to own the cell", async () => {
    const engine = await shortLog();
    const { slow, arrived, go } = heldUp(engine, "append");
    const late = restartLog(slow, 10, await engine.bounds());
    await arrived;
    await engine.append(1, bytes("of the new owner"));
    go();
    await expect(late).rejects.toThrow(Moved);
    expect(text(await engine.read(2))).toBe("of the new owner");
  });

  test("keeps what another node has written that has begun it anew meanwhile", async () => {
    const engine = await shortLog();
    const { slow, arrived, go } = heldUp(engine, "trim");
    const late = restartLog(slow, 10, await engine.bounds());
    await arrived;
    // The new owner finds what the former one has begun.
    await expect(restartLog(engine, 9, await engine.bounds())).rejects.toThrow(EngineUnavailable);
    await engine.append(10, bytes("of the new owner"));
    go();
    await late;
    expect(text(await engine.read(11))).toBe("of the new owner");
    expect(await engine.bounds()).toMatchObject({ first: 11, last: 11 });
  });

  test("stays as it is if another node has begun it anew and written since this one looked at it", async () => {
    const engine = await shortLog();
    const seen = await engine.bounds();
    await restartLog(engine, 9, seen);
    for (const word of ["ten", "eleven"]) await engine.append((await engine.bounds()).last, bytes(word));
    await expect(restartLog(engine, 10, seen)).rejects.toThrow(Moved);
    await expect(restartLog(engine, 10, await engine.bounds())).rejects.toThrow(EngineUnavailable);
    expect([text(await engine.read(10)), text(await engine.read(11))]).toEqual(["ten", "eleven"]);
    expect(await engine.bounds()).toMatchObject({ first: 10, last: 11 });
  });

  test("does so by whichever node finds it, if its owner was killed in the middle", async () => {
    const engine = await shortLog();
    await engine.append(1, restartMessage(10));
    await expect(finishRestart(engine, await engine.read(2))).rejects.toThrow(EngineUnavailable);
    expect(await engine.bounds()).toMatchObject({ first: 11, last: 10 });
  });
});
