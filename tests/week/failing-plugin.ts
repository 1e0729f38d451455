// A plugin of the operator's that lets one start fail: the next one after somebody has made the file `fail-once`.
export const FAILING_PLUGIN = `import { existsSync, rmSync } from "node:fs";
export default ({ plugin }) => plugin("once", () => ({ service: {}, start() {
  if (!existsSync("fail-once")) return;
  rmSync("fail-once");
  throw new Error("the new version does not get on with this machine");
} }));`;
