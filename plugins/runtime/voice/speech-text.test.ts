// Tests which words of a reply are spoken, and whether its reader needs the text beside them.
import { describe, expect, test } from "bun:test";
import { MAX_SPOKEN, toSpeechText } from "./speech-text.ts";

describe("the text that is spoken", () => {
  test.each([
    ["The harbour is **open** until _six_.", "The harbour is open until six."],
    ["# Today\n\n- Tea ☕️\n- Cake\n\n---\n1. Go\n2. Rest", "Today\nTea\nCake\n1. Go\n2. Rest"],
    ["> quoted\n\nand `npm` said", "quoted\nand npm said"],
  ])("of %j is everything, without markup", (reply, text) => {
    expect(toSpeechText(reply)).toEqual({ text, isWhole: true });
  });

  test.each([
    ["See [the plan](https://example.com/plan).", "See the plan."],
    ["Look at https://example.com/a?b=1 now.", "Look at now."],
    ["Run this:\n\n```sh\nrm -rf /\n```\n\nThen wait.", "Run this:\nThen wait."],
    ["Prices:\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nThat is all.", "Prices:\nThat is all."],
  ])("of %j leaves out what no voice can read, and says so", (reply, text) => {
    expect(toSpeechText(reply)).toEqual({ text, isWhole: false });
  });

  test.each(["```\ncode\n```", "https://example.com", "🎉", "", "---"])("of %j is nothing", (reply) => {
    expect(toSpeechText(reply)).toEqual({ text: "", isWhole: false });
  });

  test("of a long reply ends with a sentence", () => {
    const { text, isWhole } = toSpeechText("Tea needs eighty degrees. ".repeat(200));
    expect(isWhole).toBe(false);
    expect(text.length).toBeLessThanOrEqual(MAX_SPOKEN);
    expect(text.length).toBeGreaterThan(MAX_SPOKEN / 2);
    expect(text).toEndWith("eighty degrees.");
    expect(toSpeechText("😀x".repeat(2_000)).text.isWellFormed()).toBe(true);
    expect(toSpeechText("a".repeat(5_000)).text.length).toBe(MAX_SPOKEN);
  });
});
