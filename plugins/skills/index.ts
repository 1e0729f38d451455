// The plugin of skills: the tools of agents. It has the built-in skills, and a registry for those of other sources.
import { plugin } from "../../src/kernel/plugin.ts";
import { DAY } from "../../src/kernel/util/time.ts";
import { agentStats } from "../agent-stats/index.ts";
import { agents } from "../agents/index.ts";
import { ai, createVectorIndex } from "../ai/index.ts";
import { auth } from "../auth/index.ts";
import { documents } from "../documents/index.ts";
import { createBackupRows } from "./backup-rows.ts";
import { createConfigWarnings, type ExpectedTools } from "./config-warnings.ts";
import { createMemorySkill } from "./memory/memory-skill.ts";
import { createMemoryStore, FACT_TEXTS } from "./memory/memory-store.ts";
import { createOwnerFacts } from "./memory/owner-facts.ts";
import { createReminderSkill } from "./reminders/reminder-skill.ts";
import { createReminderStore } from "./reminders/reminder-store.ts";
import type { Skill } from "./skill.ts";
import { createSkillRegistry } from "./skill-registry.ts";
import { clockSkill } from "./time/clock-skill.ts";
import { createWebFetchSkill } from "./web/web-fetch-skill.ts";

export { type FactRow, isWithinMemoryLimits, type ReminderRow, toFactRow } from "./backup-rows.ts";
export { idOfCall } from "./call-key.ts";
export { EXTRACT_FACTS, type ExtractedFact, rememberExtracted, splitFacts } from "./memory/extracted-facts.ts";
export type { Fact, FactKind, FactSource, MemoryStore, RecentFacts } from "./memory/memory-store.ts";

export {
  type CallToApprove,
  type CheckedCall,
  type PreparedTool,
  type ToolResult,
  wrapUntrusted,
} from "./prepared-tool.ts";
export type { Reminder, ReminderHandler } from "./reminders/reminder-store.ts";
export {
  type Audience,
  defineTool,
  type EarlierFile,
  type Instructions,
  type Json,
  type JsonSchema,
  type MessageFile,
  type PromptContext,
  type Skill,
  type SkillItem,
  type SkillSource,
  type SubStepEvent,
  type Tool,
  type ToolClass,
  type ToolContext,
  type ToolEffect,
  type ToolFile,
  ToolOutput,
  toolDeclined,
} from "./skill.ts";
export { highestTaint, TAINT, type Taint } from "./taint.ts";
export { formatInWords } from "./time/time-parsing.ts";
export { isVerbatimIn } from "./verbatim.ts";

/** The job that makes the vectors of an agent's facts. */
const EMBED = "skills.embed";

export const skills = plugin("skills", (host) => {
  const { kernel } = host;
  const agentService = host.use(agents);
  const agentStatsService = host.use(agentStats);
  const { embedder } = host.use(ai);
  const vectors = embedder && createVectorIndex({ ...kernel, embedder }, { name: "memory_vectors", texts: FACT_TEXTS });
  const memories = createMemoryStore({
    ...kernel,
    vectors,
    embedStatements: (agentId) =>
      vectors ? [kernel.jobs.enqueueStatement(EMBED, { agentId }, { uniqueKey: agentId, maxAttempts: 4 })] : [],
  });
  if (vectors) {
    kernel.jobs.handle(EMBED, async (payload, { signal }) => {
      const { agentId } = payload as { agentId: string };
      const agent = await agentService.find(agentId);
      if (agent) await vectors.fill(agentId, agent.userId, signal);
    });
    // Facts of a backup, another model, or a provider that was down: what is missing is made the next day at the latest.
    kernel.jobs.every("skills.vectors", DAY, async () => {
      const { rows } = await kernel.database.readLong("SELECT DISTINCT agent_id FROM memories");
      return rows.flatMap(({ agent_id: id }) => memories.embedStatements(String(id)));
    });
  }
  const ownerFacts = createOwnerFacts({ ...kernel, memories });
  agentStatsService.addMemoryGauge(memories.memoryBytes);
  const reminders = createReminderStore(kernel);

  /** Skills that the configuration enables or disables. A switch in the database, set by the owner, overrides them. */
  async function configuredSkills(agentId: string): Promise<ReadonlyMap<string, boolean>> {
    const settings = await agentService.settings(agentId);
    const memory = settings.memory === undefined ? [] : [["memory", settings.memory] as const];
    return new Map([...memory, ...(settings.skills ?? [])]);
  }

  const registry = createSkillRegistry({ ...kernel, configuredSkills });
  const expectedTools: ExpectedTools[] = [];
  agentService.registerConfigCheck(createConfigWarnings(registry, expectedTools));
  agentService.onChange(registry.invalidate);
  agentService.onDelete(registry.invalidate);
  agentService.onDelete(memories.forgetAgent);
  const builtIn = [
    clockSkill,
    createMemorySkill(memories, ownerFacts.find),
    createWebFetchSkill({
      outbound: kernel.outbound,
      documents: host.use(documents),
      recordTraffic: agentStatsService.recordTraffic,
    }),
    createReminderSkill(reminders),
  ];
  const harmless = new Set(builtIn.filter(isHarmless).map(({ id }) => id));
  registry.register({ id: "built-in", skillsFor: () => builtIn });

  const { guards } = agentService;
  const { identities } = host.use(auth);
  return {
    lateRoutes: {
      web: [
        async () =>
          (await import("./reminders/reminder-routes.ts")).reminderWebRoutes({
            ...kernel,
            identities,
            guards,
            reminders,
          }),
        async () =>
          (await import("./memory/memory-routes.ts")).memoryWebRoutes({
            ...kernel,
            identities,
            guards,
            memories,
            ownerFacts,
          }),
        async () => (await import("./skill-routes.ts")).skillRoutes({ identities, guards, registry }),
      ],
      backend: [
        async () => (await import("./reminders/reminder-routes.ts")).reminderBackendRoutes({ guards, reminders }),
        async () => (await import("./memory/memory-routes.ts")).memoryBackendRoutes({ guards, memories, ownerFacts }),
      ],
    },
    service: {
      ...registry,
      memories,
      onReminder: reminders.onReminder,
      /** Registers which tools a configuration brings, so that rules for them are not called ineffective before they are known. */
      registerExpectedTools: (of: ExpectedTools) => void expectedTools.push(of),
      /** Whether every new agent has this skill, and none of its tools spends or reaches out. */
      isHarmless: (skillId: string) => harmless.has(skillId),
      backupRows: createBackupRows({ ...kernel, memories, registry }),
      /** Statements that delete all facts and reminders of an agent. */
      resetStatements: (agentId: string) => [
        memories.forgetAllStatement(agentId),
        reminders.cancelAllStatement(agentId),
      ],
    },
  };
});

const isHarmless = ({ enabledByDefault, tools }: Skill) =>
  enabledByDefault && tools("").every((tool) => tool.class === "read" || tool.class === "write");
