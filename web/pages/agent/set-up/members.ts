// Reads and changes the members of a key of a configuration that is an object.

import { withKey } from "../config/config-changes.ts";

export type Members = Readonly<Record<string, unknown>>;

/** The members of a value; none for anything but an object. */
export const membersOf = (value: unknown): Members =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};

export const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

/** The members with another value; `undefined` removes the member. Undefined if none is left. */
export function withMember(members: Members, name: string, value: unknown): Members | undefined {
  const next = withKey(members, name, value);
  return Object.keys(next).length > 0 ? next : undefined;
}
