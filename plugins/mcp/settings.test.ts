// Tests the list of commands that the operator allows as MCP servers.
import { expect, test } from "bun:test";
import { loadAllSettings } from "../../src/server/settings.ts";
import { mcpSettings } from "./settings.ts";

const commandsOf = (MCP_COMMANDS: string) => loadAllSettings({ MCP_COMMANDS }).of(mcpSettings).commands;

test("a command alone lets agents choose its arguments; a named one has those of the operator", () => {
  expect(commandsOf("")).toEqual([]);
  expect(commandsOf("/opt/weather, files=/usr/bin/files  /srv --ro,x=/bin/env A=b /bin/y")).toEqual([
    { name: "/opt/weather", command: "/opt/weather", args: undefined },
    { name: "files", command: "/usr/bin/files", args: ["/srv", "--ro"] },
    { name: "x", command: "/bin/env", args: ["A=b", "/bin/y"] },
  ]);
});

test.each(["/usr/bin/files /srv", "files=", "=/bin/x y", "a=/bin/x,a=/bin/y"])("%s is no list of commands", (text) => {
  expect(() => commandsOf(text)).toThrow("MCP_COMMANDS");
});
