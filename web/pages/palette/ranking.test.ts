// Which commands the palette finds by words, and in which order.

import { describe, expect, test } from "bun:test";
import { rank, wordsOf } from "./ranking.ts";

const COMMANDS = [
  { label: "Usage", keywords: "cost money" },
  { label: "Harbour: Log" },
  { label: "Schlüssel", keywords: "keys" },
  { label: "Log out" },
  { label: "Catalogue" },
];
const found = (typed: string) => rank(COMMANDS, wordsOf(typed)).map(({ label }) => label);

describe("commands", () => {
  test("are all there before a word is typed", () => {
    expect(found(" ")).toEqual(COMMANDS.map(({ label }) => label));
  });

  test("have all words, in any order and case, in their names or keywords", () => {
    expect(found("LOG harb")).toEqual(["Harbour: Log"]);
    expect(found("money")).toEqual(["Usage"]);
    expect(found("harbour money")).toEqual([]);
  });

  test("come first if their names begin with the words, last if a name only has them inside", () => {
    expect(found("log")).toEqual(["Log out", "Harbour: Log", "Catalogue"]);
  });

  test("with less else in their names come first", () => {
    const both = [{ label: "Pilot: Stop and delete" }, { label: "Pilot: Stop" }];
    expect(rank(both, ["stop", "pilot"]).map(({ label }) => label)).toEqual(["Pilot: Stop", "Pilot: Stop and delete"]);
  });

  test("are found without accents", () => {
    expect(found("schlussel")).toEqual(["Schlüssel"]);
  });
});
