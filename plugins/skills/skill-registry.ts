// Lists the skills of each agent from all sources, with their switches, and prepares the tools of the enabled ones.
import { eq, sql } from "drizzle-orm";
import { statement } from "../../src/kernel/database/database.ts";
import { notFound } from "../../src/kernel/errors.ts";
import { type Kernel, ownsDatabase } from "../../src/kernel/plugin.ts";
import { createCache } from "../../src/kernel/util/cache.ts";
import { withTimeout } from "../../src/kernel/util/timeout.ts";
import { type PreparedTool, prepareTool, TOOL_CLASSES, toolClassOf } from "./prepared-tool.ts";
import { agentSkills } from "./schema.ts";
import type { Instructions, PromptContext, Skill, SkillSource, Tool, ToolClass } from "./skill.ts";
import { highestTaint, TAINT } from "./taint.ts";

const MAX_CACHED_AGENTS = 20_000;
const SOURCE_TIMEOUT_MS = 5_000;
/** How long the result without a failed source is cached. */
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

/** A skill with what it may do. */
export interface SkillDetails extends SkillItem {
  /** The source that provides it, such as `built-in`. */
  source: string;
  /** Its texts come from outside. */
  untrusted: boolean;
  /** Whether the switch, the configuration or neither decides that it is on or off. */
  decidedBy: "owner" | "config" | "default";
  /** The classes of its tools, from the harmless to the dangerous. */
  permissions: ToolClass[];
  tools: { name: string; description: string; class: ToolClass; ownerOnly: boolean; approvalGroup?: string }[];
}

export interface SkillRegistry {
  /** Adds a source. Of two skills with the same id, the one of the source registered first is used. */
  register(source: SkillSource): void;
  list(agentId: string): Promise<readonly SkillItem[]>;
  /** The skills with what they may do; without an agent, those that every agent can have, as a new one gets them. */
  describe(agentId?: string): Promise<SkillDetails[]>;
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

/** The skills and tools of an agent. Agents with the same skills share one view. */
interface SkillView {
  items: readonly SkillItem[];
  enabled: readonly Skill[];
  forOwner: readonly PreparedTool[];
  forOthers: readonly PreparedTool[];
  /** Visitors of a public page, whom the agent can't reach later. */
  forVisitors: readonly PreparedTool[];
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
  const sourceIds = new WeakMap<Skill, string>();
  const intern = createInterner();
  const selectSwitches = drizzle
    .select({ skillId: agentSkills.skillId, enabled: agentSkills.enabled })
    .from(agentSkills)
    .where(eq(agentSkills.agentId, sql.placeholder("agentId")))
    .prepare();
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
    const forOwner = preparedToolsOf(agentId, enabled);
    const forOthers = forOwner.filter((tool) => !tool.ownerOnly);
    const view = intern({
      items: skills.map((skill) => toSkillItem(skill, enabled.includes(skill))),
      enabled,
      forOwner,
      forOthers,
      forVisitors: forOthers.filter((tool) => !tool.followsUp),
    });
    return { view, expiresAt: failed ? Date.now() + RETRY_SOURCE_MS : Number.POSITIVE_INFINITY };
  }

  /** The skills of all sources but those that fail. */
  async function skillsOf(agentId: string): Promise<{ skills: Skill[]; failed: boolean }> {
    let failed = false;
    const found = await Promise.all(
      sources.map(async (source) => {
        try {
          const skills = await withTimeout(() => source.skillsFor(agentId), {
            ms: SOURCE_TIMEOUT_MS,
            error: () => new Error(`The source ${source.id} took over ${SOURCE_TIMEOUT_MS} ms.`),
          });
          for (const skill of skills) {
            sourceIds.set(skill, source.id);
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

  return {
    register(source) {
      sources.push(source);
      entries.clear();
    },
    list: async (agentId) => (await viewOf(agentId)).items,

    async describe(agentId = "") {
      const [asConfigured, switches, { skills }] = await Promise.all([
        configuredSkills(agentId),
        selectSwitches.execute({ agentId }),
        skillsOf(agentId),
      ]);
      const switched = new Map(switches.map(({ skillId, enabled }) => [skillId, enabled]));
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
          source: sourceIds.get(skill) ?? "",
          untrusted: foreign.has(skill),
          decidedBy: switched.has(id) ? "owner" : asConfigured.has(id) ? "config" : "default",
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
      const parts = await Promise.all(
        enabled.map(async (skill) => {
          try {
            const written = (await skill.instructions?.(context)) ?? "";
            const { text, taint } = typeof written === "string" ? { text: written, taint: TAINT.none } : written;
            return { text, taint: foreign.has(skill) ? TAINT.outside : taint };
          } catch (error) {
            log.warn("a skill's instructions failed and are left out of the prompt", {
              skill: skill.id,
              agentId: context.agentId,
              error,
            });
            return NO_INSTRUCTIONS;
          }
        }),
      );
      const written = parts.filter(({ text }) => text !== "");
      return {
        text: written.map(({ text }) => text).join("\n\n"),
        taint: highestTaint(written.map(({ taint }) => taint)),
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

/** Returns an equal view that exists already, so that thousands of agents with the same skills hold one view. */
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
