import { expect, test } from "bun:test";
import { channelDefinition, channelDefinitions, channelIds, isChannelId, mapChannels } from "./registry.ts";

test("every row has its own id, names and variables", () => {
  const rows = channelDefinitions();
  const namesOf = ({ id, label, environmentPrefix, provisioning }: (typeof rows)[number]) => [
    ...[id, label, environmentPrefix],
    ...[provisioning?.token, provisioning?.owner].flatMap((one) => (one ? [one.field, one.alias] : [])),
  ];
  const names = rows.flatMap(namesOf);
  expect(new Set(names).size).toBe(names.length);
  for (const { environmentPrefix, settings } of rows) {
    const foreign = Object.keys(settings.variables).filter((name) => !name.startsWith(`${environmentPrefix}_`));
    expect(foreign).toEqual([]);
  }
});

test("every row offers a way to receive", () => {
  for (const { capabilities } of channelDefinitions()) {
    expect(capabilities.hasListener || capabilities.hasWebhook).toBe(true);
  }
});

test("ids are checked at run time", () => {
  expect(channelIds()).toEqual(["channel_a", "channel_b", "channel_c", "channel_d", "channel_e"]);
  expect(isChannelId("channel_a")).toBe(true);
  expect(isChannelId("channel_z")).toBe(false);
  expect(() => channelDefinition("channel_z")).toThrow("channel_z");
  expect(Object.keys(mapChannels(() => true))).toEqual(channelIds());
});
