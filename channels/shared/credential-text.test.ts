import { describe, expect, test } from "bun:test";
import type { CredentialField } from "../definition.ts";
import {
  findCredentialProblems,
  findCredentialTextProblem,
  pickCredentials,
  readCredentials,
  writeCredentials,
} from "./credential-text.ts";

const FIELDS: readonly CredentialField[] = [
  {
    ...{ name: "host", label: "Host", isSecret: false },
    findProblem: (value) => (value.includes(" ") ? { code: "spaces", message: "A host has no spaces." } : undefined),
  },
  { name: "password", label: "Password", isSecret: true, findProblem: () => undefined },
  { name: "port", label: "Port", isSecret: false, isOptional: true, findProblem: () => undefined },
];

describe("the text of several credentials", () => {
  test("holds the values of the fields, and a salt, so that equal values have different digests", () => {
    const values = { password: "pass wörd 🗝", host: "h" };
    const [one, other] = [writeCredentials(FIELDS, values), writeCredentials(FIELDS, values)];
    expect(readCredentials(FIELDS, one)).toEqual(values);
    expect(one).toMatch(/^\{"host":"h","password":"[\x21-\x7e]+","salt":"[\w-]{22}"\}$/);
    expect(other).not.toBe(one);
  });

  test("is read from any JSON object; what is no field, empty or no plain value is dropped", () => {
    const text = JSON.stringify({ host: " h ", port: 993, password: "  ", salt: "x", other: "y" });
    expect(readCredentials(FIELDS, text)).toEqual({ host: "h", port: "993" });
    expect(pickCredentials(FIELDS, { host: ["h"], password: null, port: true })).toEqual({ port: "true" });
    expect(pickCredentials([{ ...FIELDS[1], name: "toString" } as CredentialField], {})).toEqual({});
    for (const none of ["", "x", "[]", "null", "1", '"host"', "{"])
      expect(readCredentials(FIELDS, none)).toBeUndefined();
  });

  test("names each value that is missing or has the wrong form", () => {
    expect(findCredentialProblems(FIELDS, { host: "a b" })).toEqual([
      { field: "host", code: "spaces", message: "A host has no spaces." },
      { field: "password", code: "missing", message: "Give this: Password." },
    ]);
    expect(findCredentialProblems(FIELDS, { host: "h", password: "p" })).toEqual([]);
    expect(findCredentialTextProblem(FIELDS, '{"host":"h"}')).toMatchObject({ code: "missing" });
    expect(findCredentialTextProblem(FIELDS, '{"host":"h","password":"p"}')).toBeUndefined();
    expect(findCredentialTextProblem(FIELDS, "h")?.message).toContain('{"host":"…","password":"…","port":"…"}');
  });
});
