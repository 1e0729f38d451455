import { describe, expect, test } from "bun:test";
import { outputDifference } from "./shown-output.ts";

describe("output is what a page shows", () => {
  test.each([
    ["the same text", "Berth is ready.\n", "Berth is ready."],
    ["other numbers, times, versions and addresses", "10.0.0.5:3001  0.2.0  1,204", "127.0.0.1:49152  1.10.0  3"],
    ["columns of another width", "cell  owner\n0     here", "cell   owner\n0      here"],
    ["anything for …", "Data  …/data\ntoken=…", "Data  /tmp/x/data\ntoken=abc"],
    ["blank lines around it", "\nDone\n", "Done\n\n"],
  ])("with %s", (_, shown, printed) => {
    expect(outputDifference(shown, printed)).toBeUndefined();
  });
});

describe("output differs from what a page shows", () => {
  test.each([
    ["another word", "Berth is ready", "Berth is late", '"Berth is ready"'],
    ["a number that is missing", "2 agents", "no agents", '"2 agents"'],
    ["a line that is missing", "One\nTwo", "One", '"Two", and the program printed no more line'],
    ["a line more", "One", "One\nTwo", 'no more line, and the program printed "Two"'],
    ["another order", "One\nTwo", "Two\nOne", '"One"'],
    ["characters of patterns", "a.b", "aXb", '"a.b"'],
  ])("by %s", (_, shown, printed, said) => {
    expect(outputDifference(shown, printed)).toContain(said);
  });
});
