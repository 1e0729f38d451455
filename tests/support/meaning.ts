// An embedding model for tests and benchmarks that knows a few synonyms: texts that mean the same are near each other, always alike.

const DIMENSIONS = 256;
/** Each line is one meaning, in words of three or more letters without their endings. */
const MEANINGS = `car auto vehicle drive
doctor physician medic appointment
child daughter son kid
food eat meal dinner dish cook
holiday vacation trip travel journey
job work profession employ career
home live flat apartment house move
animal pet dog cat
music song instrument play
hurt allerg sick illness health
like love prefer favourite enjoy fond
cost price pay expensive cheap
begin start open
end close shut finish
film movie cinema
sport exercise run jog train
wedding marry spouse husband wife
hot warm temperature degrees
boss manager superior`;
const MEANING_OF = new Map(
  MEANINGS.split("\n").flatMap((line) => {
    const words = line.split(" ");
    return words.map((word) => [word, words[0] ?? word] as const);
  }),
);
const COMMON = new Set(
  "the and for with that this have has had was were what when where which who how does did are you your they their from about into".split(
    " ",
  ),
);

/** The beginning of the word that has a known meaning, else the word. */
function meaningOf(word: string): string {
  for (let length = word.length; length >= 3; length--) {
    const found = MEANING_OF.get(word.slice(0, length));
    if (found) return found;
  }
  return word;
}

export function vectorOf(text: string): number[] {
  const vector = new Array<number>(DIMENSIONS).fill(0);
  const words = text.toLowerCase().match(/\p{L}{3,}|\p{N}+/gu) ?? [];
  for (const meaning of new Set(words.filter((word) => !COMMON.has(word)).map(meaningOf))) {
    for (let at = 0; at < DIMENSIONS; at++) {
      vector[at] = (vector[at] ?? 0) + (Bun.hash.wyhash(`${at}:${meaning}`) % 2n === 0n ? 1 : -1);
    }
  }
  return vector;
}

/** A local provider with this model alone. */
export function startMeanings(): Bun.Server<undefined> {
  return Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      if (!new URL(request.url).pathname.endsWith("/embeddings")) return Response.json({ object: "list", data: [] });
      const { input, model } = (await request.json()) as { input: string[]; model: string };
      const data = input.map((text, index) => ({ object: "embedding", index, embedding: vectorOf(text) }));
      return Response.json({ object: "list", data, model, usage: { prompt_tokens: 1, total_tokens: 1 } });
    },
  });
}
