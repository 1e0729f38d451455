// A skill with a SKILL.md, from wherever it comes, as the tools of agents see it.
import type { Problem } from "../reading/problems.ts";
import type { SkillFields } from "../reading/skill-file.ts";
import type { FileEntry } from "../store/skill-rows.ts";

export interface FolderSkill extends SkillFields {
  id: string;
  /** `installed` by the account, or `shared` by the operator. */
  source: "installed" | "shared";
  version: string;
  /** Its texts count as the owner's own; otherwise they taint a turn. */
  trusted: boolean;
  /** Where SKILL.md differs from the specification. */
  warnings: readonly Problem[];
  /** The instructions. */
  body(): Promise<string>;
  /** With SKILL.md, by path. */
  files(): Promise<FileEntry[]>;
  /** Null for a file that is no text; undefined if there is none. */
  text(path: string): Promise<string | null | undefined>;
}

const PREFIX = "folder:";
/** The prefix keeps the switch of a folder from ever switching on a built-in skill or a server. */
export const folderSkillId = (name: string) => `${PREFIX}${name}`;
/** Undefined for the id of another kind of skill. */
export const nameInId = (id: string) => (id.startsWith(PREFIX) ? id.slice(PREFIX.length) : undefined);

const SCRIPT = /(?:^|\/)scripts\/|\.(?:sh|bash|zsh|ps1|bat|py|rb|pl|js|mjs|cjs|ts|php)$/i;
/** Whether a file is meant to be run, which Berth does not do. */
export const isScript = ({ path }: Pick<FileEntry, "path">) => SCRIPT.test(path);
