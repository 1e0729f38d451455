// Reads and changes the members of a key of a configuration that is an object of texts.

export type Members = Readonly<Record<string, unknown>>;

/** The members of a value; none for anything but an object. */
export const membersOf = (value: unknown): Members =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};

export const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

/** The members with another text; an empty one removes the member. Undefined if none is left. */
export function setMember(members: Members, name: string, value: string): Members | undefined {
  const { [name]: _, ...others } = members;
  const next = value === "" ? others : { ...others, [name]: value };
  return Object.keys(next).length > 0 ? next : undefined;
}
