// Decides which commands fit the typed words, and which of them come first.

/** Lower case and without accents, so that "schlussel" finds "Schlüssel". */
export const fold = (text: string): string => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();

/** The words of a text, folded. */
export const wordsOf = (text: string): string[] => fold(text).split(/\s+/).filter(Boolean);

interface Named {
  label: string;
  /** Other words under which it is found. */
  keywords?: string;
}

const startsWord = (text: string, word: string): boolean => text.startsWith(word) || text.includes(` ${word}`);

/** How well a command fits the words: 0 is best, undefined if one of them is nowhere in it. */
function fitOf({ label, keywords = "" }: Named, words: readonly string[]): number | undefined {
  const [name, all] = [fold(label), fold(`${label} ${keywords}`)];
  if (!words.every((word) => all.includes(word))) return undefined;
  const sought = words.join(" ");
  const tests = [
    name === sought,
    name.startsWith(sought),
    words.every((word) => startsWord(name, word)),
    words.every((word) => startsWord(all, word)),
    words.every((word) => name.includes(word)),
  ];
  const best = tests.indexOf(true);
  return best === -1 ? tests.length : best;
}

/** The commands that have all words, the best first; of equally good ones the shorter names, which have less else in them. */
export function rank<Command extends Named>(commands: readonly Command[], words: readonly string[]): Command[] {
  if (words.length === 0) return [...commands];
  return commands
    .flatMap((command) => {
      const fit = fitOf(command, words);
      return fit === undefined ? [] : [{ command, fit }];
    })
    .sort((a, b) => a.fit - b.fit || a.command.label.length - b.command.label.length)
    .map(({ command }) => command);
}
