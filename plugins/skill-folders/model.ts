// Defines the schemas of requests and responses about skills as folders.

import { type Static, t } from "elysia";
import { fileForm } from "../../src/kernel/http/openapi/file-form.ts";
import { type FolderSkill, isRunnable, isScript } from "./agent/folder-skill.ts";
import type { FileEntry, SkillVersion } from "./store/skill-rows.ts";

const warning = t.Object({
  code: t.String(),
  path: t.String({ description: "The file, or the field of SKILL.md" }),
  message: t.String(),
});

export const skillDetails = t.Object(
  {
    id: t.String({ description: "`folder:` and the name, as in an agent's list of skills" }),
    name: t.String(),
    description: t.String(),
    source: t.Union([t.Literal("installed"), t.Literal("shared")], {
      description: "`shared`: the operator provides it to all accounts",
    }),
    version: t.String(),
    trusted: t.Boolean({ description: "Its texts count as the owner's own instructions" }),
    license: t.Union([t.String(), t.Null()]),
    compatibility: t.Union([t.String(), t.Null()]),
    allowedTools: t.Array(t.String(), { description: "What its author wants to be allowed; it grants nothing" }),
    metadata: t.Record(t.String(), t.String()),
    warnings: t.Array(warning, { description: "Where it differs from the specification" }),
    files: t.Array(
      t.Object({
        path: t.String(),
        size: t.Integer({ description: "Bytes" }),
        isText: t.Boolean({ description: "Only texts are kept and can be read" }),
        isScript: t.Boolean({ description: "Meant to be run" }),
        isRunnable: t.Boolean({ description: "Can be run here: JavaScript or TypeScript in scripts/, in a sandbox" }),
      }),
    ),
    versions: t.Array(
      t.Object({
        version: t.Integer(),
        label: t.Union([t.String(), t.Null()], { description: "What its author calls it" }),
        address: t.Union([t.String(), t.Null()], { description: "Where it came from; null for an upload" }),
        trusted: t.Boolean(),
        size: t.Integer({ description: "Bytes of its texts" }),
        createdAt: t.String({ description: "ISO 8601" }),
      }),
      { description: "Newest first; the last five are kept. Empty for a shared skill" },
    ),
  },
  { title: "SkillDetails" },
);

export const skillFile = t.Object({
  path: t.String(),
  text: t.Union([t.String(), t.Null()], { description: "Null for a file that is no text" }),
});
export const skillFileQuery = t.Object({
  path: t.String({ minLength: 1, maxLength: 300, description: "The file inside the skill's folder" }),
});

export const skillChanges = t.Object({
  version: t.Optional(t.Integer({ minimum: 1, maximum: 1_000_000_000, description: "The version to use from now on" })),
  trusted: t.Optional(
    t.Boolean({ description: "The caller has read the version in use, and answers for it as for own instructions" }),
  ),
});
export const removedSkill = t.Object({ success: t.Literal(true), id: t.String(), deleted: t.Literal(true) });

/** The body of an installation for the API description: a form with one file, or an address. */
export const installRequestDocs = {
  required: true,
  content: {
    ...fileForm,
    "application/json": {
      schema: {
        type: "object" as const,
        required: ["url"],
        properties: {
          url: {
            type: "string" as const,
            description: "https address of a zip or a SKILL.md",
            examples: ["https://skills.example.com/tea/SKILL.md"],
          },
        },
      },
    },
  },
};

export const toSkillDetails = (
  skill: FolderSkill,
  files: readonly FileEntry[],
  versions: readonly SkillVersion[],
): Static<typeof skillDetails> => ({
  id: skill.id,
  name: skill.name,
  description: skill.description,
  source: skill.source,
  version: skill.version,
  trusted: skill.trusted,
  license: skill.license,
  compatibility: skill.compatibility,
  allowedTools: [...skill.allowedTools],
  metadata: { ...skill.metadata },
  warnings: skill.warnings.map((one) => ({ ...one })),
  files: files.map((file) => ({ ...file, isScript: isScript(file), isRunnable: isRunnable(file) })),
  versions: versions.map(({ createdAt, ...version }) => ({
    ...version,
    createdAt: new Date(createdAt).toISOString(),
  })),
});
