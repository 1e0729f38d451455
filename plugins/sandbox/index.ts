// The plugin of the sandbox: runs programs of agents in QuickJS on threads of their own. Nothing is loaded before the first one.
import { plugin } from "../../src/kernel/plugin.ts";
import { skills } from "../skills/index.ts";
import { createRunCodeSkill } from "./run-code-skill.ts";
import { createSandbox } from "./runner/sandbox.ts";

export { loadMessageFiles } from "./message-files.ts";
export { resultText, toToolFiles } from "./result.ts";
export { RUN_TIMEOUT_MS } from "./run-code-skill.ts";
export { LIMITS } from "./runner/limits.ts";
export type { Sandbox } from "./runner/sandbox.ts";
export { SEND, sendFiles } from "./sending/send-files.ts";

export const sandbox = plugin("sandbox", (host) => {
  const runner = createSandbox();
  const skillList = [createRunCodeSkill(runner)];
  host.use(skills).register({ id: "built-in", skillsFor: () => skillList });
  return { service: runner, stop: () => runner.stop() };
});
