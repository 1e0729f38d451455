// Switches off what an imported agent could act, spend or reach out with, and tells its owner how to switch it on.
import { type Static, t } from "elysia";
import { setJsonMembers } from "../../../src/kernel/util/json-text.ts";
import type { AgentSettings } from "../../agents/index.ts";

export const switchedOffItem = t.Object({
  kind: t.Union([
    t.Literal("skill"),
    t.Literal("setting"),
    t.Literal("reminders"),
    t.Literal("schedules"),
    t.Literal("publicPage"),
    t.Literal("instructions"),
  ]),
  name: t.String(),
  how: t.String({ description: "How the owner switches it on" }),
});

export type SwitchedOff = Static<typeof switchedOffItem>;

/** A change of a known setting; undefined where it may stay, `null` where it is removed. */
type Arrival = (value: unknown) => string | null | undefined;

const kept: Arrival = () => undefined;
/** People in it would get the owner's rights, or access, at once. */
const removed: Arrival = () => null;
/** The new owner has seen nothing of a server either, so none is trusted. */
const disable = (item: unknown) =>
  typeof item === "object" && item !== null
    ? { ...item, enabled: false, ...("trusted" in item && { trusted: false }) }
    : item;
/** Whether it can arrive as it is. */
const isHarmless = (item: unknown) =>
  typeof item === "object" &&
  item !== null &&
  "enabled" in item &&
  item.enabled === false &&
  !("trusted" in item && item.trusted === true);

/** Switches each entry of a map off. */
function disableEach(value: unknown): string | undefined {
  const entries = Object.entries(value as object);
  if (entries.every(([, entry]) => isHarmless(entry))) return undefined;
  return JSON.stringify(Object.fromEntries(entries.map(([name, entry]) => [name, disable(entry)])));
}

/** What becomes of each known setting. The compiler requires a decision about a new one. */
const ARRIVALS: { [Key in keyof AgentSettings]-?: Arrival } = {
  model: kept,
  instructions: kept,
  temperature: kept,
  topP: kept,
  maxTokens: kept,
  memory: kept,
  // Limits what the agent may cost.
  budget: kept,
  timezone: kept,
  transcription: kept,
  voice: kept,
  pictures: kept,
  // The switches of `switchesOnArrival` override it.
  skills: kept,
  channels: removed,
  mcpServers: disableEach,
  remoteAgents: disableEach,
  schedules(value) {
    const schedules = value as unknown[];
    return schedules.every(isHarmless) ? undefined : JSON.stringify(schedules.map(disable));
  },
  // Sites of the old owner would show it to everybody, on the new owner's bill.
  embed(value) {
    const { origins, ...rest } = value as { origins?: unknown[] };
    return origins === undefined || origins.length === 0 ? undefined : JSON.stringify(rest);
  },
  // `ask` and `deny` only restrict; `allow` would take a decision away from the owner.
  approvals(value) {
    if (Array.isArray(value)) return undefined;
    const entries = Object.entries(value as object);
    const strict = entries.filter(([, approval]) => approval !== "allow");
    return strict.length === entries.length ? undefined : JSON.stringify(Object.fromEntries(strict));
  },
};

/**
 * The configuration as it arrives, and the names of the settings that were changed. All other bytes stay as they are.
 * @param text a valid configuration
 */
export function configOnArrival(text: string): { config: string; changed: string[] } {
  const config: object = JSON.parse(text);
  const changes: Record<string, string | undefined> = {};
  for (const [name, arrival] of Object.entries(ARRIVALS)) {
    const value: unknown = Object.hasOwn(config, name) ? Reflect.get(config, name) : undefined;
    const change = value === undefined ? undefined : arrival(value);
    if (change !== undefined) changes[name] = change ?? undefined;
  }
  return { config: setJsonMembers(text, changes), changed: Object.keys(changes) };
}

/**
 * The switches of skills as they arrive. A skill stays on only if every new agent has it and it can't spend or reach out;
 * others that the file switches on, by a switch or in its configuration, are switched off.
 */
export function switchesOnArrival(
  fileSwitches: ReadonlyMap<string, boolean>,
  configured: ReadonlyMap<string, boolean>,
  isHarmless: (skillId: string) => boolean,
): { switches: Map<string, boolean>; off: string[] } {
  const wanted = new Map([...configured, ...fileSwitches]);
  const off = [...wanted].flatMap(([id, enabled]) => (enabled && !isHarmless(id) ? [id] : []));
  return { switches: new Map([...fileSwitches, ...off.map((id) => [id, false] as const)]), off };
}

interface Arrived {
  skills: readonly string[];
  /** Those of them that the new owner does not have, such as folders that another account installed. */
  missingSkills: ReadonlySet<string>;
  settings: readonly string[];
  reminders: number;
  schedules: number;
  publicPage: boolean;
}

/** The list for the owner of the new agent. */
export function switchedOffList(
  agentId: string,
  { skills, missingSkills, settings, reminders, schedules, publicPage }: Arrived,
): SwitchedOff[] {
  const path = `/api/agents/${agentId}`;
  return [
    ...skills.map((id) => {
      const body = JSON.stringify({ action: "update-skill", agentId, skillId: id, enabled: true });
      const first = missingSkills.has(id)
        ? "This server or account has no such skill yet. Add it (folders: POST /api/skills), then "
        : "";
      return { kind: "skill" as const, name: id, how: `${first}POST /api/agent ${body}` };
    }),
    ...settings.map((name) => ({
      kind: "setting" as const,
      name,
      how: `PUT ${path}/config with the configuration and ${SETTING_HINTS[name] ?? `${name} from the file`}`,
    })),
    ...(reminders === 0
      ? []
      : [
          {
            kind: "reminders" as const,
            name: String(reminders),
            how: `GET ${path}/reminders, then PATCH ${path}/reminders/<id> {"enabled":true} for each`,
          },
        ]),
    ...(schedules === 0
      ? []
      : [
          {
            kind: "schedules" as const,
            name: String(schedules),
            how: `GET ${path}/schedules, then PATCH ${path}/schedules/<id> {"enabled":true} for each`,
          },
        ]),
    ...(publicPage
      ? [{ kind: "publicPage" as const, name: "public page", how: `PUT ${path}/public {"enabled":true}` }]
      : []),
    {
      kind: "instructions",
      name: "instructions",
      how:
        "They work, but every tool call that changes, sends or spends needs your approval until you have read the " +
        `configuration and saved it: GET ${path}/config, then PUT ${path}/config`,
    },
  ];
}

const SETTING_HINTS: Readonly<Record<string, string>> = {
  channels: "the channels from the file, if you know the people in them",
  mcpServers: "mcpServers whose enabled is true",
  remoteAgents: "remoteAgents whose enabled is true",
  schedules: "schedules whose enabled is true",
  embed: "the sites in embed.origins that are yours",
  approvals: "the approvals from the file that allow",
};
