// Tests how a time limit or an abort ends a wait, and the signal that the work receives.
import { expect, test } from "bun:test";
import { abortable, withTimeout } from "./timeout.ts";

const options = (ms: number) => ({ ms, error: () => new Error("too long") });
const never = () => new Promise<never>(() => undefined);

test("settles as the work does", async () => {
  expect(await withTimeout(() => "done", options(60_000))).toBe("done");
  await expect(withTimeout(() => Promise.reject(new Error("broken")), options(60_000))).rejects.toThrow("broken");
  const throws = () => {
    throw new Error("at once");
  };
  await expect(withTimeout(throws, options(60_000))).rejects.toThrow("at once");
});

test("rejects with the error after its time, and aborts the work's signal with it", async () => {
  let given: AbortSignal | undefined;
  const work = (signal: AbortSignal) => {
    given = signal;
    return never();
  };
  await expect(withTimeout(work, options(1))).rejects.toThrow("too long");
  expect(given?.reason).toEqual(new Error("too long"));
});

test("rejects as soon as the caller's signal aborts, and does not begin after that", async () => {
  const leaving = new AbortController();
  const waiting = withTimeout(never, { ...options(60_000), signal: leaving.signal });
  leaving.abort(new Error("gone"));
  await expect(waiting).rejects.toThrow("gone");
  let begun = false;
  const work = () => {
    begun = true;
  };
  await expect(withTimeout(work, { ...options(60_000), signal: leaving.signal })).rejects.toThrow("gone");
  expect(begun).toBe(false);
});

test("abortable settles as the work does, or rejects as soon as the signal aborts", async () => {
  const leaving = new AbortController();
  expect(await abortable(Promise.resolve("done"), leaving.signal)).toBe("done");
  await expect(abortable(Promise.reject(new Error("broken")), leaving.signal)).rejects.toThrow("broken");
  const renamed = abortable(never(), leaving.signal, () => new Error("client gone"));
  const ended = Promise.allSettled([abortable(never(), leaving.signal), renamed]);
  leaving.abort(new Error("gone"));
  expect((await ended).map((one) => one.status === "rejected" && one.reason.message)).toEqual(["gone", "client gone"]);
  await expect(abortable(Promise.resolve("late"), leaving.signal)).rejects.toThrow("gone");
});
