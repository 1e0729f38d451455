// Tests that readers of one answer share its request, and that it goes on for a while without them.
import { expect, test } from "bun:test";
import { createOpenVisits } from "./open-visits.ts";

const encoder = new TextEncoder();

/** A request to the backend whose answer grows as the test says. */
function answer() {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>(undefined, undefined, {
    highWaterMark: 10,
  });
  const writer = writable.getWriter();
  let signal: AbortSignal | undefined;
  let begun = 0;
  const aborted = Promise.withResolvers<void>();
  return {
    begin: async (given: AbortSignal) => {
      begun++;
      signal = given;
      given.addEventListener("abort", () => {
        aborted.resolve();
        writer.abort(given.reason).catch(() => undefined);
      });
      return readable;
    },
    say: (text: string) => writer.write(encoder.encode(text)),
    end: () => writer.close(),
    aborted: aborted.promise,
    isAborted: () => signal?.aborted,
    begun: () => begun,
  };
}
const never = () => new AbortController().signal;
const next = async (reader: { read(): Promise<{ value?: Uint8Array | undefined }> }) =>
  new TextDecoder().decode((await reader.read()).value);

test("each reader gets the answer from its beginning, and it is asked for once", async () => {
  const visits = createOpenVisits();
  const one = answer();
  const first = (await visits.read("key", never(), one.begin)).getReader();
  await one.say("Ahoy ");
  expect(await next(first)).toBe("Ahoy ");
  const second = (await visits.read("key", never(), one.begin)).getReader();
  await one.say("there");
  await one.end();
  expect([await next(second), await next(second), (await second.read()).done]).toEqual(["Ahoy ", "there", true]);
  expect([await next(first), (await first.read()).done]).toEqual(["there", true]);
  expect(one.begun()).toBe(1);
  const other = answer();
  await visits.read("key", never(), other.begin);
  expect(other.begun()).toBe(1);
});

test("an answer without a reader is ended after a while, not before, and not if one comes back", async () => {
  const visits = createOpenVisits({ graceMs: 20 });
  const left = answer();
  const gone = new AbortController();
  const stream = await visits.read("left", gone.signal, left.begin);
  gone.abort();
  await stream.cancel();
  expect(left.isAborted()).toBe(false);
  const returned = answer();
  await (await visits.read("returned", never(), returned.begin)).cancel();
  const again = (await visits.read("returned", never(), returned.begin)).getReader();
  await left.aborted;
  await returned.say("still here");
  expect(await next(again)).toBe("still here");
  expect(returned.isAborted()).toBe(false);
});

test("is stopped at once, for its readers too; what is not open can't be", async () => {
  const visits = createOpenVisits();
  const one = answer();
  const reader = (await visits.read("key", never(), one.begin)).getReader();
  expect(visits.stop("other")).toBe(false);
  expect(visits.stop("key")).toBe(true);
  await expect(reader.read()).rejects.toThrow();
  expect(one.isAborted()).toBe(true);
});

test("a request that is refused is refused for all, and the next one is new", async () => {
  const visits = createOpenVisits();
  const refused = () => visits.read("key", never(), () => Promise.reject(new Error("busy")));
  const both = await Promise.allSettled([refused(), refused()]);
  expect(both.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  const one = answer();
  await visits.read("key", never(), one.begin);
  expect(one.begun()).toBe(1);
});
