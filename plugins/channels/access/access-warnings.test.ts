// Tests the warnings about access settings that match nobody.
import { expect, test } from "bun:test";
import { findAccessWarnings } from "./access-warnings.ts";

test("ids as the platforms write them have no warning", () => {
  const channels = {
    channel_a: { owners: ["42"], allow: ["43"], groups: "all" as const },
    channel_c: { owners: ["436601234567"] },
  };
  expect(findAccessWarnings({ channels })).toEqual([]);
  expect(findAccessWarnings({})).toEqual([]);
});

test("a user name, a number in another form, and groups where there are none are named", () => {
  const channels = {
    channel_a: { owners: ["42", "@ada"] },
    channel_c: { allow: ["+43 660 1234567"], groups: "all" as const },
  };
  expect(findAccessWarnings({ channels })).toEqual([
    { path: "channels.channel_a.owners[1]", message: expect.stringMatching(/matches nobody on Telegram.*numeric id/) },
    { path: "channels.channel_c.allow[0]", message: expect.stringContaining("Write it as 436601234567.") },
    { path: "channels.channel_c.groups", message: "Agents are in no groups on WhatsApp." },
  ]);
});
