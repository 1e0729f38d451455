import { expect, test } from "bun:test";
import { ConditionTimeout, createWatch, eventually, seeded } from "./eventually.ts";

test("eventually: waits for a truthy value, and retries after exceptions", async () => {
  let calls = 0;
  const value = await eventually(
    () => {
      calls += 1;
      expect(calls).toBeGreaterThan(2);
      return calls > 3 && `call ${calls}`;
    },
    { everyMs: 1 },
  );
  expect(value).toBe("call 4");
});

test("eventually: reports the condition and its last result on timeout", async () => {
  const failure = await eventually(() => 0, { timeoutMs: 20, everyMs: 5, what: "a reply" }).catch((error) => error);
  expect(failure).toBeInstanceOf(ConditionTimeout);
  expect(failure.message).toMatch(/^Not within \d+ ms: a reply\nThe last check returned 0$/);
  const thrown = eventually(() => expect(1).toBe(2), { timeoutMs: 10, everyMs: 5 });
  await expect(thrown).rejects.toThrow(/The last check threw: .*Expected: 2/s);
});

test("a watch checks again only after changed()", async () => {
  const watch = createWatch();
  let ready = 0;
  const waiting = watch.waitFor(() => ready > 1 && "done");
  for (ready = 1; ready < 3; ready += 1) watch.changed();
  expect(await waiting).toBe("done");
  await expect(watch.waitFor(() => false, 10, "it")).rejects.toThrow(
    "Not within 10 ms: it\nThe last check returned false",
  );
});

test("seeded: the same seed gives the same numbers", () => {
  const draw = (seed: number) => {
    const random = seeded(seed);
    return [random.next(), random.integer(1, 6), random.pick(["a", "b", "c"]), ...random.shuffle([1, 2, 3, 4, 5])];
  };
  expect(draw(7)).toEqual(draw(7));
  expect(draw(7)).not.toEqual(draw(8));
  const random = seeded(1);
  const dice = Array.from({ length: 600 }, () => random.integer(1, 6));
  expect(new Set(dice)).toEqual(new Set([1, 2, 3, 4, 5, 6]));
  expect(dice.filter(() => random.chance(0.5)).length).toBeWithin(240, 360);
});
