// The plugin of agents among agents: they ask each other on this host, and by the A2A protocol over hosts.
import { plugin } from "../../src/kernel/plugin.ts";
import { agents } from "../agents/index.ts";
import { auth } from "../auth/index.ts";
import { publicPage } from "../public-page/index.ts";
import { runtime } from "../runtime/index.ts";
import { skills } from "../skills/index.ts";
import { createCallBudget } from "./call-budget.ts";
import { createAgentDirectory } from "./local/agent-directory.ts";
import { createAgentSkill } from "./local/agent-skill.ts";

export const peers = plugin("peers", ({ use }) => {
  const agentService = use(agents);
  const { users } = use(auth);
  const pages = use(publicPage);
  const { agentMessages } = use(runtime);
  const directory = createAgentDirectory({ agents: agentService, users, publicPage: pages });
  const budget = createCallBudget();
  const available = [createAgentSkill({ ...pages, directory, messages: agentMessages, budget })];
  use(skills).register({ id: "built-in", skillsFor: () => available });
  return { service: {} };
});
