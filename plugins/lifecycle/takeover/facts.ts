// Splits Markdown notes into facts: each item of a list and each paragraph is one, with the heading above it.

/** Characters of a fact. */
const MAX_FACT = 2_000;

/** @param about put before each fact, such as the day of a note */
export function factsOf(markdown: string, about = ""): string[] {
  const facts: string[] = [];
  let heading = "";
  let current: string[] = [];
  const finish = () => {
    const text = current.join(" ").replace(/\s+/g, " ").trim();
    current = [];
    if (/[\p{L}\p{N}]/u.test(text)) facts.push(...piecesOf([about, heading, text].filter(Boolean).join(": ")));
  };
  for (const line of withoutComments(markdown).split("\n")) {
    const trimmed = line.trim();
    const title = /^#{1,6}\s+(.*)$/.exec(trimmed)?.[1];
    const item = /^(?:[-*+]|\d{1,3}[.)])\s+(.*)$/.exec(trimmed)?.[1];
    if (title !== undefined) {
      finish();
      heading = title.slice(0, 100);
    } else if (trimmed === "" || /^[-*_=]{3,}$/.test(trimmed)) {
      finish();
    } else if (item !== undefined && !/^\s{2,}/.test(line)) {
      finish();
      current.push(item);
    } else {
      current.push(item ?? trimmed);
    }
  }
  finish();
  return facts;
}

/** Text without HTML comments, as templates have them. */
export function withoutComments(text: string): string {
  let result = "";
  for (let from = 0; ; ) {
    const start = text.indexOf("<!--", from);
    const end = start < 0 ? -1 : text.indexOf("-->", start + 4);
    if (end < 0) return result + text.slice(from);
    result += text.slice(from, start);
    from = end + 3;
  }
}

function piecesOf(text: string): string[] {
  const pieces: string[] = [];
  for (let rest = text; rest !== ""; ) {
    if (rest.length <= MAX_FACT) return [...pieces, rest];
    const end = rest.lastIndexOf(" ", MAX_FACT);
    const cut = end > MAX_FACT / 2 ? end : MAX_FACT;
    pieces.push(rest.slice(0, cut).toWellFormed().trim());
    rest = rest.slice(cut).trim();
  }
  return pieces;
}
