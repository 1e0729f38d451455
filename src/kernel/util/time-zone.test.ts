// Names of time zones: which are taken.
import { expect, test } from "bun:test";
import { isTimeZone } from "./time-zone.ts";

test.each(["Europe/Berlin", "europe/berlin", "UTC", "Etc/GMT+1", "+01:00"])("%s is a time zone", (name) => {
  expect(isTimeZone(name)).toBe(true);
});

test.each(["", "Mars/Base", "Z", " Europe/Berlin", "2026-01-01T00:00Z"])("%j is none", (name) => {
  expect(isTimeZone(name)).toBe(false);
});
