// What the API says about the account's skills, and the words for what is wrong with one.

import { api, path } from "../../../api/api.ts";
import type { ApiError } from "../../../api/errors.ts";
import { type Text, t, text } from "../../../viewer/language.ts";

/** An item of `GET /api/skills`. */
export interface SkillItem {
  id: string;
  name: string;
  description: string;
  version: string;
  source: string;
  untrusted: boolean;
}

export interface SkillList {
  skills: SkillItem[];
}

export interface Problem {
  code: string;
  path: string;
  message: string;
}

export interface SkillFile {
  path: string;
  size: number;
  isText: boolean;
  isScript: boolean;
  isRunnable: boolean;
}

export interface SkillVersion {
  version: number;
  label: string | null;
  address: string | null;
  trusted: boolean;
  size: number;
  createdAt: string;
}

/** `GET /api/skills/:id`. */
export interface Skill {
  id: string;
  name: string;
  source: "installed" | "shared";
  version: string;
  trusted: boolean;
  license: string | null;
  compatibility: string | null;
  allowedTools: string[];
  warnings: Problem[];
  files: SkillFile[];
  versions: SkillVersion[];
}

export const SKILLS = ["skills"] as const;
export const skillKey = (id: string) => ["skills", id] as const;

/** Folders with a SKILL.md: the built-in skills are not managed here. */
export const loadSkills = async (): Promise<SkillList> => {
  const { skills } = await api.get<SkillList>("/api/skills");
  return { skills: skills.filter(({ source }) => source === "installed" || source === "shared") };
};
export const loadSkill = (id: string) => api.get<Skill>(path`/api/skills/${id}`);

const WORDS: Readonly<Record<string, Text>> = {
  NOT_A_SKILL: text("This is neither a zip nor a SKILL.md file."),
  BROKEN_ZIP: text("This zip can't be read: it is damaged, encrypted, or packed in an unusual way."),
  TOO_MANY_FILES: text("A skill has at most 200 files."),
  TOO_LARGE: text("Unpacked, a skill has at most 20 MB."),
  TEXT_TOO_LARGE: text("A text has at most 1 MB. Split it."),
  UNSAFE_PATH: text("This path leads out of the folder, or has characters that paths can't have."),
  PATH_TOO_DEEP: text("Folders are nested at most 10 deep."),
  DUPLICATE_PATH: text("Two files have this path."),
  NO_SKILL_FILE: text("There is no SKILL.md in it."),
  SEVERAL_SKILL_FILES: text("There is more than one SKILL.md in it. Install one skill at a time."),
  NOT_TEXT: text("SKILL.md is no text in UTF-8."),
  NO_FRONTMATTER: text("SKILL.md must begin with its fields: a line ---, name and description, and another line ---."),
  FRONTMATTER_TOO_LONG: text("The fields of SKILL.md are too long."),
  INVALID_YAML: text("The fields are no valid YAML. Put texts with special characters in quotation marks."),
  NO_NAME: text("The skill has no name."),
  NAME_UNUSABLE: text("The name has more than 100 characters."),
  NO_DESCRIPTION: text("The skill has no description, so an agent can't know when to use it."),
  NAME_FORM: text("A name has at most 64 small letters, digits and single hyphens. It is used as it is."),
  NAME_FROM_FOLDER: text("It has no name, so it is called like its folder."),
  NAME_NOT_FOLDER: text("The name differs from that of its folder."),
  DESCRIPTION_LONG: text("The description has more than 1024 characters. Agents get the beginning."),
  COMPATIBILITY_LONG: text("This field has more than 500 characters."),
  YAML_REPAIRED: text("The fields are no valid YAML. They were read as if their texts were in quotation marks."),
  DUPLICATE_FIELD: text("This field is there twice. The last one is used."),
  UNKNOWN_FIELD: text("The specification has no such field. It is ignored."),
  FIELD_IGNORED: text("This field has another form than the specification says. It is ignored."),
  LINK: text("This is a link to another file, which was left out. Put the file itself there."),
  FILES_OUTSIDE: text("Files beside the skill's folder were left out."),
  NOT_KEPT: text("Files that are no texts, such as pictures and fonts, are listed, but not kept."),
};

export const problemWords = ({ code, message }: Problem): string => {
  const words = Object.hasOwn(WORDS, code) ? WORDS[code] : undefined;
  return words === undefined ? message : t(words);
};

/** Everything that is wrong with a folder that was refused. */
export function problemsIn({ body }: ApiError): Problem[] {
  const { issues } = body;
  return Array.isArray(issues) ? issues.filter(isProblem) : [];
}

const isProblem = (value: unknown): value is Problem =>
  typeof value === "object" && value !== null && "code" in value && "path" in value && "message" in value;
