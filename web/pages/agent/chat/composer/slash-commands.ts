// What a message can begin with: commands, and the skills of the agent that are on.

import { useQuery } from "@tanstack/react-query";
import { visibleText } from "../../../../../src/kernel/util/text/visible-text.ts";
import { api, path } from "../../../../api/api.ts";
import { t } from "../../../../viewer/language.ts";

export interface SlashCommand {
  /** Without the slash. */
  name: string;
  about: string;
}

interface SkillItem {
  name: string;
  description: string;
  enabled: boolean;
  source: string;
}

const commands = (): SlashCommand[] => [
  { name: "help", about: t("What it understands") },
  { name: "status", about: t("How it is") },
  { name: "model", about: t("Which model answers") },
];

const MAX_SHOWN = 8;

/** The commands that begin with what was typed after "/"; none for any other text. */
export function useSlashCommands(agentId: string, text: string): SlashCommand[] {
  const [, typed] = /^\/([\w-]*)$/.exec(text) ?? [];
  const { data } = useQuery({
    queryKey: ["agent", agentId, "skills"],
    queryFn: () => api.get<{ skills: SkillItem[] }>(path`/api/agents/${agentId}/skills`),
    enabled: typed !== undefined,
    staleTime: 60_000,
  });
  if (typed === undefined) return [];
  const folders = (data?.skills ?? []).filter(
    ({ enabled, source }) => enabled && (source === "installed" || source === "shared"),
  );
  const skills = folders.map(({ name, description }) => ({ name, about: visibleText(description) }));
  return [...skills, ...commands()].filter(({ name }) => name.startsWith(typed.toLowerCase())).slice(0, MAX_SHOWN);
}
