// Shares the views of agents' skills: thousands of agents with the same skills hold one.
import type { PreparedTool } from "./prepared-tool.ts";
import type { Skill, SkillItem } from "./skill.ts";

/** The skills and tools of an agent. Agents with the same skills share one view. */
export interface SkillView {
  items: readonly SkillItem[];
  skills: readonly Skill[];
  enabled: readonly Skill[];
  forOwner: readonly PreparedTool[];
  forOthers: readonly PreparedTool[];
  /** Visitors of a public page, whom the agent can't reach later. */
  forVisitors: readonly PreparedTool[];
}

/** Returns an equal view that exists already, so that thousands of agents with the same skills hold one view. */
export function createInterner(): (view: SkillView) => SkillView {
  const MAX_SHARED = 1000;
  const views = new Map<string, SkillView>();
  return (view) => {
    const key = view.items.map(({ id, enabled }) => `${id}=${enabled}`).join(" ");
    const known = views.get(key);
    // Equal ids don't suffice: two accounts may have different skills of the same name.
    if (known && sameItems(known.skills, view.skills) && sameItems(known.forOwner, view.forOwner)) return known;
    if (views.size >= MAX_SHARED) views.clear();
    views.set(key, view);
    return view;
  };
}

const sameItems = (some: readonly unknown[], others: readonly unknown[]) =>
  some.length === others.length && some.every((item, index) => item === others[index]);
