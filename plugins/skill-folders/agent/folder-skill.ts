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
  /** It has scripts that can be run here. */
  hasScripts: boolean;
  /** Where SKILL.md differs from the specification. */
  warnings: readonly Problem[];
  /** The instructions. */
  body(): Promise<string>;
  /** With SKILL.md, by path. */
  files(): Promise<FileEntry[]>;
  /** Null for a file that is no text; undefined if there is none. */
  text(path: string): Promise<string | null | undefined>;
  /** The texts of these files; those that are not there, or no texts, are left out. */
  texts(paths: readonly string[]): Promise<{ path: string; text: string }[]>;
}

const PREFIX = "folder:";
/** The prefix keeps the switch of a folder from ever switching on a built-in skill or a server. */
export const folderSkillId = (name: string) => `${PREFIX}${name}`;
/** Undefined for the id of another kind of skill. */
export const nameInId = (id: string) => (id.startsWith(PREFIX) ? id.slice(PREFIX.length) : undefined);

const SCRIPT = /(?:^|\/)scripts\/|\.(?:sh|bash|zsh|ps1|bat|py|rb|pl|js|mjs|cjs|ts|php)$/i;
/** Whether a file is meant to be run. */
export const isScript = ({ path }: Pick<FileEntry, "path">) => SCRIPT.test(path);

const RUNNABLE = /^scripts\/.+\.(?:[cm]?js|[cm]?ts)$/;
/** Whether it can be run in the sandbox. The query of `installed-skills.ts` has the same rule. */
export const isRunnable = ({ path }: Pick<FileEntry, "path">) => RUNNABLE.test(path);
