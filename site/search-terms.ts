// How the search reads what people type: words, and names of settings, error codes and events as one term. The build and the browser
// share it: the browser gets it from the theme, because a function of the configuration would need `new Function` there.

/** A letter to MiniSearch, which begins the term of a name and takes the place of its underscores, so that it is no word's term. */
const MARK = "ˍ";
const DOT = "ˑ";

/** `BACKUP_RUNNING`, `agent.created`, or a single word in capitals. */
const NAME = /^(?:\w+(?:[_.]\w+)+|[A-Z][A-Z0-9]+)$/;
/** As in MiniSearch. */
const BETWEEN_WORDS = /[\n\r\p{Z}\p{P}]+/u;
/** Words of questions that are on every page. */
const QUESTION = new Set(
  "a an and are can do does for how i in is it make my of on or the to what where with".split(" "),
);

/** The one term for a name; undefined for other words. */
export const nameTerm = (word: string): string | undefined =>
  NAME.test(word) ? MARK + word.replaceAll("_", MARK).replaceAll(".", DOT) : undefined;

/** Options of MiniSearch's `search`. */
export const searchOptions = {
  tokenize(query: string): string[] {
    const names = query.split(/\s+/).flatMap((word) => nameTerm(word) ?? []);
    const words = query.split(BETWEEN_WORDS).filter(Boolean);
    const telling = words.filter((word) => !QUESTION.has(word.toLowerCase()));
    return [...names, ...(telling.length > 0 ? telling : words)];
  },
  /** A name leads to the row that defines it; words lead to guides before references and decisions. */
  boostDocument(address: string, term: string): number {
    if (ROW.test(address)) return term.startsWith(MARK) ? 20 : 0.2;
    return SECOND.test(address) ? 0.4 : 1;
  },
};

const ROW = /\/(?:configuration|errors|events)#(?:[A-Z]|\w+\.)/;
const SECOND = /^\/docs\/(?:api\b|events\b|decisions\/|contributing|console)/;
