// Tells whether an address stands verbatim in a text, so that nobody can have put words of the conversation into it.

/** What may stand right before an address without being a part of it. */
const BEFORE = /[^\p{L}\p{N}@%_-]$/u;
/** What may stand right after it: the end of a sentence, a bracket or quotation mark, or space. */
const AFTER = /^(?:$|[\s"'<>()[\]{}|*`»“”]|[.,;:!?…]+(?:$|[\s"'<>)\]}*`]))/;

/**
 * Whether `sent` stands in one of the texts as a whole. The scheme of a web address, its fragment and a slash at its end make no difference.
 * The home page of a site counts as given by any address of that site.
 */
export function isVerbatimIn(texts: Iterable<string>, sent: string): boolean {
  const forms = formsOf(sent.trim());
  for (const text of texts) if (forms.some((form) => stands(text, form))) return true;
  return false;
}

interface Form {
  text: string;
  /** Anything of an address may follow. */
  isSite: boolean;
}

function formsOf(sent: string): Form[] {
  const exact = { text: sent, isSite: false };
  const url = URL.parse(sent);
  if (!url || !/^https?:$/.test(url.protocol)) return sent === "" ? [] : [exact];
  // A name and password would be sent, too.
  if (url.username !== "" || url.password !== "") return [exact];
  if (url.pathname === "/" && url.search === "") return [{ text: url.host, isSite: true }];
  const written = sent.replace(/^https?:\/\//i, "").replace(/#.*$/s, "");
  const parsed = `${url.host}${url.pathname}${url.search}`;
  return [...new Set([written, parsed].map((form) => form.replace(/\/$/, "")))].map((text) => ({
    text,
    isSite: false,
  }));
}

function stands(text: string, { text: form, isSite }: Form): boolean {
  for (let at = text.indexOf(form); at >= 0; at = text.indexOf(form, at + 1)) {
    const before = text.slice(Math.max(0, at - 1), at);
    const after = text.slice(at + form.length, at + form.length + 12);
    const isWhole = AFTER.test(after) || AFTER.test(after.replace(/^\//, "")) || /^#/.test(after);
    if ((before === "" || BEFORE.test(before)) && (isWhole || (isSite && /^[/?:]/.test(after)))) return true;
  }
  return false;
}
