// Translates sentences of the server, whose texts are English. The English sentence is the key of its translation, as for the
// console's own texts; what varies in it is a place, and what stands there is put into the translation.

/** How values are written in the viewer's language. */
export interface Formats {
  number(value: number): string;
  time(epochMs: number): string;
}

export interface Sentences {
  /** Adds translations by their English sentences, such as `{ "At most {n} files.": "Höchstens {n} Dateien." }`. */
  add(table: Readonly<Record<string, string>>): void;
  /** The translation with its values; the sentence itself if there is none. */
  translate(english: string): string;
}

interface Template {
  pattern: RegExp;
  places: string[];
  translated: string;
  /** Characters outside the places: the more, the more exactly it matches. */
  weight: number;
}

const PLACE = /\{(\w+)\}/g;
/** `{n}`, `{n2}`: a number, written in the viewer's way. */
const isNumberPlace = (name: string) => /^n\d*$/.test(name);
/** `{at}`: a time in ISO 8601. */
const isTimePlace = (name: string) => name === "at";
/** `{text}`, `{text2}`: a sentence or word of the server itself, which is translated, too. */
const isTextPlace = (name: string) => /^text\d*$/.test(name);
const NUMBER = String.raw`(\d[\d,]*(?:\.\d+)?)`;
const TIME = String.raw`(\d{4}-\d\d-\d\dT[\d:.]+Z)`;
/** The server often adds what to do as another sentence. */
const BETWEEN_SENTENCES = /(?<=[.!?]) (?=[A-Z])/;
const MAX_DEPTH = 3;

export function createSentences(formats: Formats): Sentences {
  const exact = new Map<string, string>();
  let templates: Template[] = [];

  function add(table: Readonly<Record<string, string>>): void {
    const added: Template[] = [];
    for (const [english, translated] of Object.entries(table)) {
      if (english.search(PLACE) === -1) exact.set(english, translated);
      else added.push(templateOf(english, translated));
    }
    templates = [...templates, ...added].sort((one, other) => other.weight - one.weight);
  }

  function translate(english: string, depth = 0): string {
    const known = exact.get(english);
    if (known !== undefined || depth === MAX_DEPTH) return known ?? english;
    for (const { pattern, places, translated } of templates) {
      const values = pattern.exec(english)?.slice(1);
      if (values)
        return translated.replace(PLACE, (_, name: string) => written(name, values[places.indexOf(name)], depth));
    }
    const each = english.split(BETWEEN_SENTENCES);
    return each.length === 1 ? english : each.map((one) => translate(one, depth + 1)).join(" ");
  }

  function written(name: string, value = "", depth = 0): string {
    if (isNumberPlace(name)) return formats.number(Number(value.replaceAll(",", "")));
    if (isTimePlace(name)) return formats.time(Date.parse(value));
    return isTextPlace(name) ? translate(value, depth + 1) : value;
  }

  return { add, translate: (english) => translate(english) };
}

function templateOf(english: string, translated: string): Template {
  const [first = "", ...rest] = english.split(PLACE);
  const places: string[] = [];
  let source = escaped(first);
  let weight = first.length;
  for (let index = 0; index < rest.length; index += 2) {
    const [name = "", after = ""] = rest.slice(index, index + 2);
    places.push(name);
    source += (isNumberPlace(name) ? NUMBER : isTimePlace(name) ? TIME : "(.*?)") + escaped(after);
    weight += after.length;
  }
  return { pattern: new RegExp(`^${source}$`, "s"), places, translated, weight };
}

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
