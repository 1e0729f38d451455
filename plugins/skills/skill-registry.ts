// Which skills an agent has and which of them are on; the tools that follow from it, ready for the turn.
import { eq, sql } from "drizzle-orm";
import { statement } from "../../src/kernel/database/database.ts";
import { notFound } from "../../src/kernel/errors.ts";
import { type Kernel, ownsDatabase } from "../../src/kernel/plugin.ts";
import { createLoadingCache } from "./loading-cache.ts";
import { type PreparedTool, prepareTool } from "./prepared-tool.ts";
import { agentSkills } from "./schema.ts";
import type { PromptContext, Skill, SkillSource, Tool } from "./skill.ts";

const MAX_CACHED_AGENTS = 20_000;
const SOURCE_TIMEOUT_MS = 5_000;
/** After this long, a source that failed is asked again. */
const RETRY_SOURCE_MS = 30_000;
const TOOL_NAME = /^[A-Za-z0-9_-]{1,64}$/;

export interface SkillItem {
  id: string;
  name: string;
  description: string;
  category: string;
  version: string;
  enabled: boolean;
}

export interface SkillRegistry {
  /** From now on the skills of this source are there too. Of two skills with one id, the one registered first counts. */
  register(source: SkillSource): void;
  list(agentId: string): Promise<readonly SkillItem[]>;
  /** The tools of the enabled skills. The same array for all agents with the same tools, and for as long as they stay. */
  toolsFor(agentId: string, byOwner: boolean): Promise<readonly PreparedTool[]>;
  /** What the enabled skills have to say in the system prompt; "" for nothing. */
  instructionsFor(context: PromptContext): Promise<string>;
  /** Throws 404 UNKNOWN_SKILL. Beats the agent's configuration from then on. */
  setEnabled(agentId: string, skillId: string, enabled: boolean): Promise<SkillItem>;
  /** To be called when an agent's configuration, or what a source has for it, is not what it was; without an id for all. */
  invalidate(agentId?: string): void;
}

export interface SkillRegistryDeps extends Pick<Kernel, "database" | "log" | "config"> {
  /** Skills that the agent's configuration switches on or off. */
  configuredSkills(agentId: string): Promise<ReadonlyMap<string, boolean>>;
}

/** What is known of an agent. Agents that have the same share one. */
interface SkillView {
  items: readonly SkillItem[];
  enabled: readonly Skill[];
  forOwner: readonly PreparedTool[];
  forOthers: readonly PreparedTool[];
}

interface CacheEntry {
  view: SkillView;
  expiresAt: number;
}

export function createSkillRegistry({ database, log, config, configuredSkills }: SkillRegistryDeps): SkillRegistry {
  const { drizzle } = database;
  const sources: SkillSource[] = [];
  const preparedTools = new WeakMap<Tool, PreparedTool>();
  const intern = createInterner();
  const selectSwitches = drizzle
    .select({ skillId: agentSkills.skillId, enabled: agentSkills.enabled })
    .from(agentSkills)
    .where(eq(agentSkills.agentId, sql.placeholder("agentId")))
    .prepare();
  const entries = createLoadingCache(ownsDatabase({ config, database }) ? MAX_CACHED_AGENTS : 0, load);

  async function viewOf(agentId: string): Promise<SkillView> {
    const known = await entries.get(agentId);
    if (known.expiresAt >= Date.now()) return known.view;
    entries.invalidate(agentId);
    return (await entries.get(agentId)).view;
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
    const forOwner = preparedToolsOf(agentId, enabled);
    const view = intern({
      items: skills.map((skill) => toSkillItem(skill, enabled.includes(skill))),
      enabled,
      forOwner,
      forOthers: forOwner.filter((tool) => !tool.ownerOnly),
    });
    return { view, expiresAt: failed ? Date.now() + RETRY_SOURCE_MS : Number.POSITIVE_INFINITY };
  }

  /** All skills of all sources, a failing source left out. */
  async function skillsOf(agentId: string): Promise<{ skills: Skill[]; failed: boolean }> {
    let failed = false;
    const found = await Promise.all(
      sources.map(async (source) => {
        try {
          return await withTimeout(source.id, async () => source.skillsFor(agentId));
        } catch (error) {
          failed = true;
          log.warn("A source of skills failed; its skills are left out for now.", {
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
        const known = preparedTools.get(tool) ?? prepareTool(tool, skill.id, log);
        preparedTools.set(tool, known);
        if (TOOL_NAME.test(tool.name) && !byName.has(tool.name)) byName.set(tool.name, known);
        else
          log.warn("A tool is left out: its name is taken or not usable.", {
            tool: tool.name,
            skill: skill.id,
            agentId,
          });
      }
    }
    return [...byName.values()];
  }

  return {
    register(source) {
      sources.push(source);
      entries.invalidateAll();
    },
    list: async (agentId) => (await viewOf(agentId)).items,
    toolsFor: async (agentId, byOwner) => {
      const { forOwner, forOthers } = await viewOf(agentId);
      return byOwner ? forOwner : forOthers;
    },

    async instructionsFor(context) {
      const { enabled } = await viewOf(context.agentId);
      const parts = await Promise.all(
        enabled.map(async (skill) => {
          try {
            return (await skill.instructions?.(context)) ?? "";
          } catch (error) {
            log.warn("A skill's part of the prompt is left out.", { skill: skill.id, agentId: context.agentId, error });
            return "";
          }
        }),
      );
      return parts.filter((part) => part !== "").join("\n\n");
    },

    async setEnabled(agentId, skillId, enabled) {
      const item = (await viewOf(agentId)).items.find(({ id }) => id === skillId);
      if (!item) throw notFound(`This agent has no skill "${skillId.slice(0, 100)}".`, "UNKNOWN_SKILL");
      const insert = drizzle.insert(agentSkills).values({ agentId, skillId, enabled });
      const { agentId: byAgent, skillId: bySkill } = agentSkills;
      const upsert = insert.onConflictDoUpdate({ target: [byAgent, bySkill], set: { enabled } });
      await database.write([statement(upsert)]);
      entries.invalidate(agentId);
      return { ...item, enabled };
    },

    invalidate: (agentId) => (agentId === undefined ? entries.invalidateAll() : entries.invalidate(agentId)),
  };
}

const toSkillItem = ({ id, name, description, category, version }: Skill, enabled: boolean): SkillItem => ({
  id,
  name,
  description,
  category,
  version,
  enabled,
});

/** Finds a view like this one that is there already: thousands of agents with the same skills hold one, not thousands. */
function createInterner(): (view: SkillView) => SkillView {
  const MAX_SHARED = 1000;
  const views = new Map<string, SkillView>();
  return (view) => {
    const key = view.items.map(({ id, enabled }) => `${id}=${enabled}`).join(" ");
    const known = views.get(key);
    if (known && sameItems(known.enabled, view.enabled) && sameItems(known.forOwner, view.forOwner)) return known;
    if (views.size >= MAX_SHARED) views.clear();
    views.set(key, view);
    return view;
  };
}

const sameItems = (some: readonly unknown[], others: readonly unknown[]) =>
  some.length === others.length && some.every((item, index) => item === others[index]);

async function withTimeout<Value>(source: string, work: () => Promise<Value>): Promise<Value> {
  const { promise: timeout, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => reject(new Error(`The source ${source} took over ${SOURCE_TIMEOUT_MS} ms.`)),
    SOURCE_TIMEOUT_MS,
  );
  try {
    return await Promise.race([work(), timeout]);
  } finally {
    clearTimeout(timer);
  }
}
