// Tests how hints name the program.
import { expect, test } from "bun:test";
import { programName } from "./program-name.ts";

const path = "/usr/local/bin:/usr/bin";

test.each([
  ["/srv/berth/dist/berth", "/srv/berth", "./dist/berth"],
  ["/srv/berth", "/srv", "./berth"],
  ["/opt/berth", "/srv", "/opt/berth"],
  ["/usr/local/bin/berth", "/srv", "berth"],
  ["/usr/local/bin/berth-2", "/usr/local/bin", "berth-2"],
  ["/home/ann/project/node_modules/bun/bin/bun.exe", "/home/ann/project", "./dist/berth"],
])("%s, seen from %s, is %s", (executable, directory, name) => {
  expect(programName({ executable, directory, path })).toBe(name);
});
