// Tests what waits for the process that reads a copy, with a program in its place.
import { expect, test } from "bun:test";
import { bun } from "../../../tests/support/process.ts";
import { startFingerprint } from "./fingerprint-process.ts";

const programOf = (source: string) => ({ command: [bun, "-e", source], env: {} });

test("writes go on after some time, without a result, when it hangs", async () => {
  const { pinned, result } = startFingerprint(programOf("setInterval(() => {}, 1000)"), "berth.db", 200);
  await pinned;
  await expect(result).rejects.toThrow("could not be read within 0.2 s");
});

test("writes go on when it can't read the copy, and its last line says why", async () => {
  const { pinned, result } = startFingerprint(
    programOf("console.error('It is damaged.'); process.exit(1)"),
    "berth.db",
  );
  await pinned;
  await expect(result).rejects.toThrow("It is damaged.");
});
