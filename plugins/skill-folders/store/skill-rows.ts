// Defines what is stored of installed skills, and reads it from rows.
import type { Row } from "@libsql/client";
import type { Problem } from "../reading/problems.ts";
import type { SkillFields } from "../reading/skill-file.ts";

/** The version of a skill that is in use. */
export interface InstalledSkill extends SkillFields {
  userId: string;
  version: number;
  warnings: Problem[];
  address: string | null;
  trusted: boolean;
  hasScripts: boolean;
  createdAt: number;
}

export interface SkillVersion {
  version: number;
  /** What its author calls this version; null without a name. */
  label: string | null;
  address: string | null;
  trusted: boolean;
  /** Bytes of its texts. */
  size: number;
  createdAt: number;
}

export interface FileEntry {
  path: string;
  /** Bytes. */
  size: number;
  isText: boolean;
}

// `install` writes these columns.
const fieldsIn = (text: unknown): Omit<SkillFields, "name" | "description"> => JSON.parse(String(text));
export const toSkill = (row: Row): InstalledSkill => ({
  userId: String(row.user_id),
  name: String(row.name),
  version: Number(row.version),
  description: String(row.description),
  ...fieldsIn(row.fields),
  warnings: JSON.parse(String(row.warnings)),
  address: row.address === null ? null : String(row.address),
  trusted: row.trusted === 1,
  hasScripts: row.has_scripts === 1,
  createdAt: Number(row.created_at),
});

export const toVersion = ({ version, fields, address, trusted, size, created_at }: Row): SkillVersion => ({
  version: Number(version),
  label: fieldsIn(fields).metadata.version ?? null,
  address: address === null ? null : String(address),
  trusted: trusted === 1,
  size: Number(size),
  createdAt: Number(created_at),
});

export const toFileEntry = ({ path, size, is_text }: Row): FileEntry => ({
  path: String(path),
  size: Number(size),
  isText: is_text === 1,
});
