// Finds for each text the font that has its letters, and what no font has.
import { create, type Font } from "fontkit";

export type FontStyle = "regular" | "bold" | "oblique" | "mono";

export interface Glyphs {
  /** The text in parts, each with the font that shows it, without what can't be shown. */
  split(text: string, style: FontStyle): [part: string, font: FontStyle][];
  /** Letters that can't be shown: the document must not be written. */
  readonly missing: ReadonlySet<string>;
  /** Emoji that were left out. */
  readonly leftOut: ReadonlySet<string>;
}

/** Written from right to left, or with forms that depend on their neighbours: pdfmake would show them wrongly. */
const NOT_LAID_OUT =
  /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Adlam}\p{Script=Mongolian}]/u;
const EMOJI = /\p{Extended_Pictographic}|\p{Emoji_Modifier}|\p{Regional_Indicator}|\u20e3/u;
/** Controls, joiners, marks of direction and variation selectors, which are nothing to see. */
const INVISIBLE = /\p{Cc}|\p{Cf}|\p{Variation_Selector}/u;

export function createGlyphs(files: Readonly<Record<FontStyle, Buffer>>): Glyphs {
  const fonts = new Map(
    Object.entries(files).map(([style, bytes]) => [style as FontStyle, create(bytes) as Font] as const),
  );
  const missing = new Set<string>();
  const leftOut = new Set<string>();
  const has = (style: FontStyle, letter: string) =>
    fonts.get(style)?.hasGlyphForCodePoint(letter.codePointAt(0) ?? 0) === true;

  /** The font for a letter; undefined if it is not shown. */
  function fontOf(letter: string, style: FontStyle): FontStyle | undefined {
    if (letter === "\n") return style;
    if (INVISIBLE.test(letter)) return undefined;
    if (!NOT_LAID_OUT.test(letter)) {
      if (has(style, letter)) return style;
      if (has("regular", letter)) return "regular";
    }
    (EMOJI.test(letter) ? leftOut : missing).add(letter);
    return undefined;
  }

  return {
    split(text, style) {
      const parts: [string, FontStyle][] = [];
      for (const letter of text.normalize("NFC").replaceAll("\t", "    ")) {
        const font = fontOf(letter, style);
        if (font === undefined) continue;
        const last = parts.at(-1);
        if (last?.[1] === font) last[0] += letter;
        else parts.push([letter, font]);
      }
      return parts;
    },
    missing,
    leftOut,
  };
}
