// Lists the skills of each agent from all sources, with their switches, and prepares the tools of the enabled ones.
import { eq, sql } from "drizzle-orm";
import { preparedQuery, statement } from "../../src/kernel/database/database.ts";
import { notFound } from "../../src/kernel/errors.ts";
import { type Kernel, ownsDatabase } from "../../src/kernel/plugin.ts";
import { createCache } from "../../src/kernel/util/cache.ts";
import { withTimeout } from "../../src/kernel/util/timeout.ts";
import { type PreparedTool, prepareTool, TOOL_CLASSES, toolClassOf } from "./prepared-tool.ts";
import { agentSkills } from "./schema.ts";
import type { Instructions, PromptContext, Skill, SkillItem, SkillSource, Tool, ToolClass } from "./skill.ts";
import { createInterner, type SkillView } from "./skill-view.ts";
import { highestTaint, TAINT } from "./taint.ts";

const MAX_CACHED_AGENTS = 20_000;
const SOURCE_TIMEOUT_MS = 5_000;
/** How long the result without a failed source is cached. */
const RETRY_SOURCE_MS = 30_000;
const TOOL_NAME = /^[A-Za-z0-9_-]{1,64}$/;

/** A skill with what it may do. */
export interface SkillDetails extends SkillItem {
  /** The source that provides it, such as `built-in`. */
  source: string;
  /** Its texts come from outside. */
  untrusted: boolean;
  /** Whether the switch, the configuration or neither decides that it is on or off. */
  decidedBy: "owner" | "config" | "default";
  /** False if something has to be set up before its tools are offered, such as a key. */
  isReady: boolean;
  needs: string | undefined;
  /** The classes of its tools, from the harmless to the dangerous. */
  permissions: ToolClass[];
  tools: { name: string; description: string; class: ToolClass; ownerOnly: boolean; approvalGroup?: string }[];
}

export interface SkillRegistry {
  /** Adds a source. Of two skills with the same id, the one of the source registered first is used. */
  register(source: SkillSource): void;
  list(agentId: string): Promise<readonly SkillItem[]>;
  /**
   * The skills with what they may do; without an agent, those that every agent of the account can have, as a new one gets
   * them.
   */
  describe(agentId?: string, userId?: string): Promise<SkillDetails[]>;
  /**
   * The tools of the enabled skills. The same array for all agents with the same tools, until they change.
   * @param canFollowUp whether the agent can write to the conversation later
   */
  toolsFor(agentId: string, byOwner: boolean, canFollowUp?: boolean): Promise<readonly PreparedTool[]>;
  /** The instructions of the enabled skills for the system prompt, and their taint; "" for none. */
  instructionsFor(context: PromptContext): Promise<Instructions>;
  /** Stores a switch, which overrides the agent's configuration. Throws 404 `UNKNOWN_SKILL`. */
  setEnabled(agentId: string, skillId: string, enabled: boolean): Promise<SkillItem>;
  /**
   * Call it when an agent's configuration, or a source's skills for it, have changed; without an id, for all agents.
   */
  invalidate(agentId?: string): void;
}

export interface SkillRegistryDeps extends Pick<Kernel, "database" | "log" | "config"> {
  /** Skills that the agent's configuration switches on or off. */
  configuredSkills(agentId: string): Promise<ReadonlyMap<string, boolean>>;
}

interface CacheEntry {
  view: SkillView;
  expiresAt: number;
}

export function createSkillRegistry({ database, log, config, configuredSkills }: SkillRegistryDeps): SkillRegistry {
  const { drizzle } = database;
  const sources: SkillSource[] = [];
  const preparedTools = new WeakMap<Tool, PreparedTool>();
  /** Skills of untrusted sources. */
  const foreign = new WeakSet<Skill>();
  const sourceOf = new WeakMap<Skill, SkillSource>();
  const intern = createInterner();
  const selectSwitches = preparedQuery(() =>
    drizzle
      .select({ skillId: agentSkills.skillId, enabled: agentSkills.enabled })
      .from(agentSkills)
      .where(eq(agentSkills.agentId, sql.placeholder("agentId"))),
  );
  const entries = createCache<CacheEntry>({ entries: ownsDatabase({ config, database }) ? MAX_CACHED_AGENTS : 0 });

  async function viewOf(agentId: string): Promise<SkillView> {
    const cached = await entries.get(agentId, () => load(agentId));
    if (cached.expiresAt >= Date.now()) return cached.view;
    entries.drop(agentId);
    return (await entries.get(agentId, () => load(agentId))).view;
  }

  async function load(agentId: string): Promise<CacheEntry> {
    const [asConfigured, switches, { skills, failed }] = await Promise.all([
      configuredSkills(agentId),
      selectSwitches.execute({ agentId }),
      skillsOf(agentId),
    ]);
    const switched = new Map(switches.map(({ skillId, enabled }) => [skillId, enabled]));
    const isOn = ({ id, enabledByDefault }: Skill) => switched.get(id) ?? asConfigured.get(id) ?? enabledByDefault;
    const enabled = skills.filter(isOn);
    const forOwner = preparedToolsOf(agentId, await readyOnes(agentId, enabled));
    const forOthers = forOwner.filter((tool) => !tool.ownerOnly);
    const view = intern({
      items: skills.map((skill) => toSkillItem(skill, enabled.includes(skill))),
      skills,
      enabled,
      forOwner,
      forOthers,
      forVisitors: forOthers.filter((tool) => !tool.followsUp),
    });
    return { view, expiresAt: failed ? Date.now() + RETRY_SOURCE_MS : Number.POSITIVE_INFINITY };
  }

  async function readyOnes(agentId: string, all: readonly Skill[]): Promise<readonly Skill[]> {
    const ready = await Promise.all(all.map((skill) => skill.isReady?.(agentId) ?? true));
    return all.filter((_, n) => ready[n]);
  }

  /** The skills of all sources but those that fail. */
  async function skillsOf(agentId: string, userId?: string): Promise<{ skills: Skill[]; failed: boolean }> {
    let failed = false;
    const found = await Promise.all(
      sources.map(async (source) => {
        try {
          const ofAccount = userId !== undefined && source.skillsOf;
          const skills = await withTimeout(() => (ofAccount ? ofAccount(userId) : source.skillsFor(agentId)), {
            ms: SOURCE_TIMEOUT_MS,
            error: () => new Error(`The source ${source.id} took over ${SOURCE_TIMEOUT_MS} ms.`),
          });
          for (const skill of skills) {
            sourceOf.set(skill, source);
            if (source.untrusted) foreign.add(skill);
          }
          return skills;
        } catch (error) {
          failed = true;
          log.warn("a source of skills failed; its skills are left out for now", {
            source: source.id,
            agentId,
            error,
          });
          return [];
        }
      }),
    );
    const byId = new Map<string, Skill>();
    for (const skill of found.flat()) if (!byId.has(skill.id)) byId.set(skill.id, skill);
    return { skills: [...byId.values()], failed };
  }

  function preparedToolsOf(agentId: string, skills: readonly Skill[]): PreparedTool[] {
    const byName = new Map<string, PreparedTool>();
    for (const skill of skills) {
      for (const tool of skill.tools(agentId)) {
        const known = preparedTools.get(tool) ?? prepareTool(tool, skill.id, log, foreign.has(skill));
        preparedTools.set(tool, known);
        // Skills of one source may share a tool.
        if (byName.get(tool.name) === known) continue;
        if (TOOL_NAME.test(tool.name) && !byName.has(tool.name)) byName.set(tool.name, known);
        else
          log.warn("a tool is left out: its name is taken or invalid", {
            tool: tool.name,
            skill: skill.id,
            agentId,
          });
      }
    }
    return [...byName.values()];
  }

  /** The instructions that `write` returns; none if it fails. */
  async function written(
    writer: string,
    { agentId }: PromptContext,
    write: () => Promise<Instructions | string> | Instructions | string | undefined,
  ): Promise<Instructions> {
    try {
      const instructions = (await write()) ?? "";
      return typeof instructions === "string" ? { text: instructions, taint: TAINT.none } : instructions;
    } catch (error) {
      log.warn("a skill's instructions failed and are left out of the prompt", { skill: writer, agentId, error });
      return NO_INSTRUCTIONS;
    }
  }

  return {
    register(source) {
      sources.push(source);
      entries.clear();
    },
    list: async (agentId) => (await viewOf(agentId)).items,

    async describe(agentId = "", userId) {
      const [asConfigured, switches, { skills }] = await Promise.all([
        configuredSkills(agentId),
        selectSwitches.execute({ agentId }),
        skillsOf(agentId, userId),
      ]);
      const switched = new Map(switches.map(({ skillId, enabled }) => [skillId, enabled]));
      const ready = new Set(await readyOnes(agentId, skills));
      return skills.map((skill) => {
        const { id } = skill;
        const tools = skill.tools(agentId).map((tool) => ({
          name: tool.name,
          description: tool.description,
          class: toolClassOf(tool),
          ownerOnly: tool.ownerOnly ?? false,
          ...(tool.approvalGroup !== undefined && { approvalGroup: tool.approvalGroup }),
        }));
        return {
          ...toSkillItem(skill, switched.get(id) ?? asConfigured.get(id) ?? skill.enabledByDefault),
          source: skill.source ?? sourceOf.get(skill)?.id ?? "",
          untrusted: foreign.has(skill) || (skill.untrusted ?? false),
          decidedBy: switched.has(id) ? "owner" : asConfigured.has(id) ? "config" : "default",
          isReady: ready.has(skill),
          needs: skill.needs,
          permissions: TOOL_CLASSES.filter((known) => tools.some((tool) => tool.class === known)),
          tools,
        };
      });
    },
    toolsFor: async (agentId, byOwner, canFollowUp = true) => {
      const { forOwner, forOthers, forVisitors } = await viewOf(agentId);
      if (byOwner) return forOwner;
      return canFollowUp ? forOthers : forVisitors;
    },

    async instructionsFor(context) {
      const { enabled } = await viewOf(context.agentId);
      const bySource = Map.groupBy(enabled, (skill) => sourceOf.get(skill));
      const parts = await Promise.all([
        ...enabled.map(async (skill) => {
          const { text, taint } = await written(skill.id, context, () => skill.instructions?.(context));
          return { text, taint: foreign.has(skill) ? TAINT.outside : taint };
        }),
        ...[...bySource].map(async ([source, own]) => {
          if (!source?.instructions) return NO_INSTRUCTIONS;
          const { text, taint } = await written(source.id, context, () => source.instructions?.(context, own));
          return { text, taint: source.untrusted ? TAINT.outside : taint };
        }),
      ]);
      const texts = parts.filter(({ text }) => text !== "");
      return {
        text: texts.map(({ text }) => text).join("\n\n"),
        taint: highestTaint(texts.map(({ taint }) => taint)),
      };
    },

    async setEnabled(agentId, skillId, enabled) {
      const item = (await viewOf(agentId)).items.find(({ id }) => id === skillId);
      if (!item) throw notFound(`This agent has no skill "${skillId.slice(0, 100)}".`, "UNKNOWN_SKILL");
      const insert = drizzle.insert(agentSkills).values({ agentId, skillId, enabled });
      const { agentId: byAgent, skillId: bySkill } = agentSkills;
      const upsert = insert.onConflictDoUpdate({ target: [byAgent, bySkill], set: { enabled } });
      await database.write([statement(upsert)]);
      entries.drop(agentId);
      return { ...item, enabled };
    },

    invalidate: (agentId) => (agentId === undefined ? entries.clear() : entries.drop(agentId)),
  };
}

const NO_INSTRUCTIONS: Instructions = { text: "", taint: TAINT.none };

const toSkillItem = ({ id, name, description, category, version }: Skill, enabled: boolean): SkillItem => ({
  id,
  name,
  description,
  category,
  version,
  enabled,
});
