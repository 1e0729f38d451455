// Recognizes passwords that are guessed first: the most common ones, and trivial ones such as one character repeated.
// The list is a text of its own, which is loaded at the first password, and searched as a text to take no more memory.
let common: Promise<string> | undefined;

const load = async () => `\n${(await import("./common-passwords.txt", { with: { type: "text" } })).default}`;

const normalize = (password: string) => password.normalize("NFC").toLowerCase();

/** Whether the password is one of the most common ones of its length, in upper or lower case. */
export async function isCommonPassword(password: string): Promise<boolean> {
  if (password === "" || password.includes("\n")) return false;
  common ??= load();
  return (await common).includes(`\n${normalize(password)}\n`);
}

/** The longest piece that makes a password trivial by its repetition. */
const MAX_PIECE = 4;

/** Whether the password is one short piece repeated (the last time perhaps in part), or a run such as abcdefgh or 87654321. */
export function isTrivialPassword(password: string): boolean {
  const characters = [...normalize(password)];
  for (let piece = 1; piece <= Math.min(MAX_PIECE, characters.length / 2); piece++) {
    if (characters.every((character, at) => at < piece || character === characters[at - piece])) return true;
  }
  return isRun(characters) || isRun(characters.reverse());
}

const isRun = (characters: string[]) =>
  characters.length > 1 && characters.every((character, at) => at === 0 || isNext(characters[at - 1] ?? "", character));

/** As on a keyboard, 0 follows 9. */
const isNext = (before: string, character: string) =>
  codeOf(character) === codeOf(before) + 1 || (before === "9" && character === "0");

const codeOf = (character: string) => character.codePointAt(0) ?? 0;
