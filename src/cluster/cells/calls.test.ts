// Tests calls between two sides, here joined without processes.
import { expect, test } from "bun:test";
import { AppError } from "../../kernel/errors.ts";
import { type CallHandlers, createCalls } from "./calls.ts";

function pair(handlers: CallHandlers) {
  const sides: { near?: ReturnType<typeof createCalls>; far?: ReturnType<typeof createCalls> } = {};
  const overWire = (message: object) => JSON.parse(JSON.stringify(message)) as unknown;
  sides.near = createCalls((message) => queueMicrotask(() => sides.far?.receive(overWire(message))), {});
  sides.far = createCalls((message) => queueMicrotask(() => sides.near?.receive(overWire(message))), handlers);
  return { near: sides.near, far: sides.far };
}

test("each call gets its own answer, whatever the order of the answers", async () => {
  const first = Promise.withResolvers<void>();
  const { near } = pair({
    slow: async () => {
      await first.promise;
      return "slow";
    },
    double(n: number) {
      first.resolve();
      return n * 2;
    },
  });
  expect(await Promise.all([near.call("slow"), near.call("double", 4)])).toEqual(["slow", 8]);
});

test("an error keeps its status, code and further fields; another one tells nothing", async () => {
  const { near } = pair({
    refuse: () => Promise.reject(new AppError(409, "TAKEN", "It is taken.", { by: 3 })),
    break: () => Promise.reject(new Error("a secret")),
  });
  await expect(near.call("refuse")).rejects.toMatchObject({ status: 409, code: "TAKEN", extras: { by: 3 } });
  const error = await near.call("break").catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ status: 500, code: "INTERNAL" });
  expect(String(error)).not.toContain("secret");
  await expect(near.call("toString")).rejects.toMatchObject({ code: "INTERNAL" });
});

test("what waits is refused when the other side ends, and so is every later call", async () => {
  const { near } = pair({ never: () => new Promise(() => undefined) });
  const waiting = near.call("never");
  near.end();
  await expect(waiting).rejects.toMatchObject({ status: 502, code: "RELAY_BROKEN" });
  await expect(near.call("never")).rejects.toMatchObject({ code: "CELL_AWAY" });
});
