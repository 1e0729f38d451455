// Warns about switches of skills and rules of approvals that have no effect, when a configuration is saved.
import type { Issue } from "../../src/kernel/errors.ts";
import { type AgentSettings, unknownName } from "../agents/index.ts";
import { TOOL_CLASSES } from "./prepared-tool.ts";
import type { SkillRegistry } from "./skill-registry.ts";

/** Returns the function that says whether a source will have a tool, or a group of tools, of a name by these settings. */
export type ExpectedTools = (settings: AgentSettings) => (name: string) => boolean;

export function createConfigWarnings(
  { describe }: Pick<SkillRegistry, "describe">,
  expected: readonly ExpectedTools[],
): (agentId: string, settings: AgentSettings) => Promise<Issue[]> {
  return async (agentId, settings) => {
    const { skills: switches = new Map<string, boolean>(), approvals } = settings;
    if (switches.size === 0 && !approvals?.size) return [];
    const skills = await describe(agentId);
    const byId = new Map(skills.map((skill) => [skill.id, skill]));
    const ofSwitches = [...switches].flatMap(([name, isOn]) => {
      const path = `skills.${name}`;
      const skill = byId.get(name);
      if (!skill) return [{ path, message: unknownName("This agent has no such skill.", name, byId.keys()) }];
      if (skill.enabled !== isOn) {
        const state = skill.enabled ? "on" : "off";
        return [{ path, message: `The owner has switched this skill ${state} with update-skill, which comes first.` }];
      }
      return isOn && !skill.isReady && skill.needs !== undefined ? [{ path, message: skill.needs }] : [];
    });
    const tools = skills.flatMap((skill) => skill.tools);
    const known = new Set([
      ...TOOL_CLASSES,
      ...tools.flatMap(({ name, approvalGroup = name }) => [name, approvalGroup]),
    ]);
    const isExpected = expected.map((of) => of(settings));
    const ofRules = [...(approvals?.keys() ?? [])].flatMap((name) =>
      known.has(name) || isExpected.some((is) => is(name))
        ? []
        : [
            {
              path: `approvals.${name}`,
              message: unknownName("This agent has no such tool, or class of tools.", name, known),
            },
          ],
    );
    return [...ofSwitches, ...ofRules];
  };
}
