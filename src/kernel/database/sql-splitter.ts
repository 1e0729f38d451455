// Splits a migration into statements at semicolons, except those in text, comments, CASE and trigger bodies.

const TOKEN =
  /--[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|[A-Za-z_][A-Za-z0-9_$]*|;|\s+|[^\s]/g;

/** Returns the statements of a script in order, without comments and final semicolons. */
export function splitStatements(script: string): string[] {
  const statements: string[] = [];
  let text = "";
  let words: string[] = [];
  let depth = 0;
  const finish = () => {
    if (text.trim()) statements.push(text.trim());
    text = "";
    words = [];
    depth = 0;
  };
  for (const [token] of script.matchAll(TOKEN)) {
    if (token.startsWith("--") || token.startsWith("/*")) continue;
    if (token === ";" && depth === 0) {
      finish();
      continue;
    }
    text += token;
    if (!/^[A-Za-z_]/.test(token)) continue;
    const word = token.toUpperCase();
    if (words.length < 3) words.push(word);
    if (word === "CASE" || (word === "BEGIN" && isTrigger(words))) depth++;
    else if (word === "END" && depth > 0) depth--;
  }
  finish();
  return statements;
}

/** Whether the first words are CREATE [TEMP | TEMPORARY] TRIGGER. */
const isTrigger = (words: readonly string[]) =>
  words[0] === "CREATE" && words[words[1] === "TEMP" || words[1] === "TEMPORARY" ? 2 : 1] === "TRIGGER";
