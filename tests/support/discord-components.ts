// The components of the Discord fake's messages: rows of buttons, with Discord's limits.
// https://discord.com/developers/docs/components/reference

import { invalid } from "./discord-refusal.ts";
import type { ShownButton } from "./discord-types.ts";

export interface ButtonObject {
  type: 2;
  /** 1 to 4; the styles of links and purchases send no interaction, and the fake refuses them. */
  style: number;
  label: string;
  custom_id: string;
}

export interface ActionRow {
  type: 1;
  components: ButtonObject[];
}

const ACTION_ROW = 1;
const BUTTON = 2;
const STYLES: unknown[] = [1, 2, 3, 4];
const MOST_ROWS = 5;
const MOST_BUTTONS = 5;
const LONGEST_LABEL = 80;
const LONGEST_ID = 100;

const bad = (code: string, message: string) => invalid("components", code, message);

function fieldsOf(value: unknown, ...known: string[]): Record<string, unknown> {
  if (typeof value !== "object" || value === null) throw bad("MODEL_TYPE_CONVERT", "Only dictionaries may be used.");
  const other = Object.keys(value).find((field) => !known.includes(field));
  if (other !== undefined) throw bad("UNKNOWN_FIELD", `The fake knows no field ${other}.`);
  return value as Record<string, unknown>;
}

function textOf(value: unknown, longest: number): string {
  if (typeof value !== "string" || value === "" || value.length > longest)
    throw bad("BASE_TYPE_BAD_LENGTH", `Must be between 1 and ${longest} in length.`);
  return value;
}

function listOf(value: unknown, least: number, most: number): unknown[] {
  if (!Array.isArray(value)) throw bad("LIST_TYPE_CONVERT", "Only iterables may be used.");
  if (value.length < least || value.length > most)
    throw bad("BASE_TYPE_BAD_LENGTH", `Must be between ${least} and ${most} in length.`);
  return value;
}

function buttonOf(value: unknown): ButtonObject {
  const { type, style, label, custom_id: id } = fieldsOf(value, "type", "style", "label", "custom_id");
  if (type !== BUTTON) throw bad("UNION_TYPE_CHOICES", "The fake knows rows of buttons alone.");
  if (typeof style !== "number" || !STYLES.includes(style)) throw bad("BASE_TYPE_CHOICES", "Not a style of a button.");
  return { type, style, label: textOf(label, LONGEST_LABEL), custom_id: textOf(id, LONGEST_ID) };
}

/** The components in a message's body; undefined if it does not name them, which leaves them as they are. */
export function componentsOf({ components }: Record<string, unknown>): ActionRow[] | undefined {
  if (components === undefined) return undefined;
  const rows = listOf(components, 0, MOST_ROWS).map((value): ActionRow => {
    const row = fieldsOf(value, "type", "components");
    if (row.type !== ACTION_ROW) throw bad("UNION_TYPE_CHOICES", "The fake knows rows of buttons alone.");
    return { type: row.type, components: listOf(row.components, 1, MOST_BUTTONS).map(buttonOf) };
  });
  const ids = rows.flatMap((row) => row.components.map((button) => button.custom_id));
  if (new Set(ids).size < ids.length)
    throw bad("COMPONENT_CUSTOM_ID_DUPLICATED", "Component custom id cannot be duplicated");
  return rows;
}

export const shownButtons = (rows: readonly ActionRow[]): ShownButton[] =>
  rows.flatMap((row) => row.components.map(({ label, custom_id: customId }) => ({ label, customId })));
