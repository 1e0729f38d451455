// Finds access settings that match nobody: ids that the platform never sends, and groups where there are none.
import { channelDefinitions } from "../../../channels/registry.ts";
import type { Issue } from "../../../src/kernel/errors.ts";
import type { AgentSettings } from "../../agents/index.ts";

/** The warnings about `channels` of a configuration; access is decided by comparing ids as the platform writes them. */
export function findAccessWarnings({ channels = {} }: AgentSettings): Issue[] {
  return channelDefinitions().flatMap(({ id, label, ownerId, capabilities }) => {
    const { owners = [], allow = [], groups } = channels[id] ?? {};
    const path = `channels.${id}`;
    const idWarning = (list: string, person: string, index: number): Issue[] => {
      const written = ownerId.parse(person.trim());
      if (written === person) return [];
      const advice = written === undefined ? ownerId.hint : `Write it as ${written}.`;
      return [{ path: `${path}.${list}[${index}]`, message: `This matches nobody on ${label}. ${advice}` }];
    };
    return [
      ...owners.flatMap((person, index) => idWarning("owners", person, index)),
      ...allow.flatMap((person, index) => idWarning("allow", person, index)),
      ...(groups !== undefined && !capabilities.hasGroups
        ? [{ path: `${path}.groups`, message: `Agents are in no groups on ${label}.` }]
        : []),
    ];
  });
}
