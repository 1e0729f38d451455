import { expect, test } from "bun:test";
import { lateCommands } from "./late-commands.ts";

test("commands are loaded by the first call of one of them, once", async () => {
  let loads = 0;
  const commands = lateCommands(["buoy.list", "buoy.add"], async () => {
    loads += 1;
    return { "buoy.list": async () => ["North"], "buoy.add": async ({ name }) => `added ${name}` };
  });
  expect(Object.keys(commands)).toEqual(["buoy.list", "buoy.add"]);
  expect(loads).toBe(0);
  expect(await commands["buoy.list"]({})).toEqual(["North"]);
  expect(await commands["buoy.add"]({ name: "East" })).toBe("added East");
  expect(loads).toBe(1);
});

test("a failed load is tried again, and an error of a command is its caller's", async () => {
  let isDown = true;
  const commands = lateCommands(["sink"], async () => {
    if (isDown) throw new Error("fog");
    return { sink: async () => Promise.reject(new Error("sunk")) };
  });
  await expect(commands.sink({})).rejects.toThrow("fog");
  isDown = false;
  await expect(commands.sink({})).rejects.toThrow("sunk");
});
