// Tests how a template appears in each language.
import { describe, expect, test } from "bun:test";
import { pageTemplate, translateText } from "./page-template.ts";

const source = `<html lang="en"><style>
/* base */
</style><p>[[Hello <b id="name"></b>]]</p>
<script>
const texts = { /* errors */ };
say("[[It's over]]");
</script></html>`;
const german = {
  pages: { 'Hello <b id="name"></b>': 'Hallo <b id="name"></b>', "It's over": 'Es ist "aus" </script> $&' },
  pageErrors: { accounts: { GONE: "Weg </script>" }, visitors: {} },
};
const page = pageTemplate(source, { errors: "accounts", textsOf: () => german });

describe("a page template", () => {
  test("is English by default, with the texts of the API for errors", () => {
    expect(page("en")).toContain('<html lang="en">');
    expect(page("en")).toContain('<p>Hello <b id="name"></b></p>');
    expect(page("en")).toContain(`say("It's over");`);
    expect(page("en")).toContain("const texts = {};");
    expect(page("en")).not.toMatch(/\[\[|\/\* (?:base|errors)/);
  });

  test("names the language it is translated to", () => {
    expect(page("de")).toContain('<html lang="de">');
    expect(page("de")).toContain('<p>Hallo <b id="name"></b></p>');
    expect(page("de")).not.toMatch(/Hello|It's over/);
  });

  test("encodes texts in scripts, so that they can't end the string or the script", () => {
    const [, script = ""] = /<script>(.*?)<\/script>/s.exec(page("de")) ?? [];
    const said: string[] = [];
    const texts = new Function("say", `${script}; return texts;`)((text: string) => said.push(text));
    expect(said).toEqual(['Es ist "aus" </script> $&']);
    expect(texts).toEqual({ GONE: "Weg </script>" });
  });

  test("is not made without all its texts", () => {
    const incomplete = pageTemplate(source, { textsOf: () => ({ ...german, pages: {} }) });
    expect(() => incomplete("de")).toThrow('The text "Hello <b id="name"></b>" has no translation to "de".');
    expect(() => translateText("toString", "de", {}, () => ({ pages: {} }))).toThrow("has no translation");
  });

  test("has borders and focus rings of at least 3:1 to what they are on, in both themes", () => {
    for (const theme of [0, 1]) {
      const color = (name: string) => {
        const [, light = "", dark = ""] =
          new RegExp(`--${name}: light-dark\\((#\\w+), (#\\w+)\\)`).exec(page("en")) ?? [];
        return [light, dark][theme] ?? "";
      };
      for (const [front, back] of [
        ["line", "card"],
        ["line", "page"],
        ["line", "well"],
        ["sea", "card"],
        ["sea", "page"],
        ["bad", "card"],
      ] as const) {
        const ratio = contrast(color(front), color(back));
        expect({ theme, front, back, isEnough: ratio >= 3 }).toEqual({ theme, front, back, isEnough: true });
      }
    }
  });
});

/** The contrast of two colours (WCAG 2.2, "contrast ratio"). */
function contrast(one: string, other: string): number {
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

function luminance(color: string): number {
  const digits = color.length === 4 ? color.replace(/\w/g, "$&$&") : color;
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((start) => {
    const value = Number.parseInt(digits.slice(start, start + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
