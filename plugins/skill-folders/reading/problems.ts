// Lists what can be wrong with a skill's folder: problems that keep it from being used, and warnings about the rest.

/** A problem or warning: a code for programs, where it is, and a sentence for people. */
export interface Problem {
  code: ProblemCode;
  /** A file of the folder, or a field of SKILL.md, such as `SKILL.md: name`. */
  path: string;
  message: string;
}

const MIB = 1024 * 1024;
/** What a folder may hold. */
export const LIMITS = {
  /** Bytes of the zip. */
  zip: 5 * MIB,
  /** Bytes of all files. */
  unpacked: 20 * MIB,
  files: 200,
  /** Bytes of one text. */
  text: MIB,
  /** Characters of a path. */
  path: 200,
  /** Folders above a file, in the zip. */
  depth: 10,
  /** Characters of SKILL.md's fields. */
  frontmatter: 16 * 1024,
  /** Characters of a name: the specification has 64, and a longer one can be used. */
  name: 100,
} as const;

const PROBLEMS = {
  NOT_A_SKILL: "This is neither a zip nor a SKILL.md file.",
  BROKEN_ZIP: "This zip can't be read: it is damaged, encrypted, or packed in an unusual way. Pack the folder again.",
  TOO_MANY_FILES: `A skill has at most ${LIMITS.files} files.`,
  TOO_LARGE: `Unpacked, a skill has at most ${LIMITS.unpacked / MIB} MiB.`,
  TEXT_TOO_LARGE: `A text has at most ${LIMITS.text / MIB} MiB. Split it.`,
  UNSAFE_PATH: "This path leads out of the folder, or has characters that paths can't have.",
  PATH_TOO_DEEP: `Folders are nested at most ${LIMITS.depth} deep.`,
  DUPLICATE_PATH: "Two files have this path. Large and small letters count as the same.",
  NO_SKILL_FILE: "There is no SKILL.md in it.",
  SEVERAL_SKILL_FILES: "There is more than one SKILL.md in it. Upload one skill at a time.",
  NOT_TEXT: "SKILL.md is no text in UTF-8.",
  NO_FRONTMATTER: 'SKILL.md must begin with its fields: a line "---", name and description, and another line "---".',
  FRONTMATTER_TOO_LONG: `The fields of SKILL.md have at most ${LIMITS.frontmatter} characters.`,
  INVALID_YAML: "The fields of SKILL.md are no valid YAML. Put texts with special characters in quotation marks.",
  NO_NAME: "The skill has no name.",
  NAME_UNUSABLE: `A name has at most ${LIMITS.name} characters.`,
  NO_DESCRIPTION: "The skill has no description, so that an agent can't know when to use it.",
} as const;

const WARNINGS = {
  NAME_FORM: "A name has at most 64 small letters, digits and single hyphens. It is used as it is.",
  NAME_FROM_FOLDER: "It has no name, so it is called like its folder.",
  NAME_NOT_FOLDER: "The name differs from that of its folder.",
  DESCRIPTION_LONG: "A description has at most 1024 characters. Agents get the beginning.",
  COMPATIBILITY_LONG: "This field has at most 500 characters.",
  YAML_REPAIRED: "These fields are no valid YAML. They were read as if each text were in quotation marks.",
  DUPLICATE_FIELD: "This field is there twice. The last one is used.",
  UNKNOWN_FIELD: "The specification has no such field. It is ignored.",
  FIELD_IGNORED: "This field has another form than the specification says. It is ignored.",
  LINK: "This is a link to another file, which was left out. Put the file itself there.",
  FILES_OUTSIDE: "Files beside the skill's folder were left out.",
  NOT_KEPT: "Files that are no texts, such as pictures and fonts, are listed, but not kept.",
} as const;

const TEXTS = { ...PROBLEMS, ...WARNINGS };
export type ProblemCode = keyof typeof TEXTS;

export const problem = (code: ProblemCode, path = ""): Problem => ({ code, path, message: TEXTS[code] });

/** Thrown while a folder is read: it can't be used. */
export class UnusableFolder extends Error {
  override readonly name = "UnusableFolder";
  constructor(readonly problems: readonly Problem[]) {
    super(problems[0]?.message);
  }
}
