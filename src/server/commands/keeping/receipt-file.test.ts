// Tests the file of a receipt: it is open before the erasure, and never in place of another.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openReceiptFile } from "./receipt-file.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "berth-receipt-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

test("has the receipt, and only its owner can read it", () => {
  const path = join(folder, "receipt.json");
  expect(openReceiptFile(path).write("{}\n")).toBe(true);
  expect(readFileSync(path, "utf8")).toBe("{}\n");
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test("a missing folder is named before anything is erased", () => {
  expect(() => openReceiptFile(join(folder, "none", "receipt.json"))).toThrow(
    `The folder ${join(folder, "none")} does not exist. Make it, or name another file with --out. This command has erased nothing.`,
  );
});

test("an empty file is taken over: a killed erasure has left it", () => {
  const path = join(folder, "receipt.json");
  writeFileSync(path, "", { mode: 0o644 });
  expect(openReceiptFile(path).write("{}\n")).toBe(true);
  expect(readFileSync(path, "utf8")).toBe("{}\n");
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test("a receipt that another command has written into the same file meanwhile is not overwritten", () => {
  const path = join(folder, "receipt.json");
  const [first, second, third] = [openReceiptFile(path), openReceiptFile(path), openReceiptFile(path)];
  expect(first.write("first\n")).toBe(true);
  expect(second.write("second\n")).toBe(false);
  expect(readFileSync(path, "utf8")).toBe("first\n");
  rmSync(path);
  expect(third.write("third\n")).toBe(false);
});

test("a link is not followed", () => {
  const path = join(folder, "receipt.json");
  writeFileSync(join(folder, "other"), "");
  symlinkSync(join(folder, "other"), path);
  expect(() => openReceiptFile(path)).toThrow("exists already");
});

test("another file is not overwritten", () => {
  const path = join(folder, "receipt.json");
  writeFileSync(path, "mine");
  expect(() => openReceiptFile(path)).toThrow(
    `The file ${path} exists already, and is not overwritten. Name another one with --out. This command has erased nothing.`,
  );
  expect(readFileSync(path, "utf8")).toBe("mine");
});

test("is gone again if nothing was erased", () => {
  const path = join(folder, "receipt.json");
  openReceiptFile(path).discard();
  expect(existsSync(path)).toBe(false);
});

test("a write that fails is told, so that the receipt can be printed", () => {
  const file = openReceiptFile(join(folder, "receipt.json"));
  file.discard();
  expect(file.write("{}\n")).toBe(false);
});
