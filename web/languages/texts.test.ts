// Every text of the console has a translation, with the same places and marks, and none is left over.
import { describe, expect, test } from "bun:test";
import { textsByArea, textsIn } from "../build/texts.ts";
import { TRANSLATED } from "./languages.ts";
import { readTranslation } from "./read-translation.ts";

test("finds the texts of each kind of call", () => {
  const source = `t("One"); tn("{n} agent", "{n} agents", list.length); text("Two"); rich("Read <a>it</a>", { a }); useEffect("no");
    format("no"); x.t("no"); t(label); t("Say \\"hi\\"", { name: f(x) }); tn("one", "more", a.length)
    // t("in a comment")
    /** @example t("in a comment too") */`;
  expect(textsIn(source)).toEqual([
    "One",
    "{n} agent",
    "{n} agents",
    "Two",
    "Read <a>it</a>",
    'Say "hi"',
    "one",
    "more",
  ]);
});

describe.each(TRANSLATED)("the language %s", async (language) => {
  const inSource = new Set([...(await textsByArea()).values()].flatMap((texts) => [...texts]));
  const { texts: translated } = await readTranslation(language);

  test("has every text", () => {
    expect([...inSource].filter((english) => !Object.hasOwn(translated, english))).toEqual([]);
  });

  test("has no text that is not shown", () => {
    expect(Object.keys(translated).filter((english) => !inSource.has(english))).toEqual([]);
  });

  test("has the same places and marks in each", () => {
    const marks = (text: string) => (text.match(/\{\w+\}|<\/?\w+>/g) ?? []).sort();
    const different = Object.entries(translated).filter(
      ([english, other]) => JSON.stringify(marks(english)) !== JSON.stringify(marks(other)),
    );
    expect(different).toEqual([]);
  });
});
