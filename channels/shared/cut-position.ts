// Finds the position at which to cut a long text: at a paragraph, line or word if possible.

/**
 * The position, at most `limit` UTF-16 units after `start`, at which to cut a text: at a blank line, else at a line,
 * else at a word, else between characters; inside a block of code only if there is no better position.
 */
export function findCut(text: string, start: number, limit: number, inBlock: (position: number) => boolean): number {
  const most = start + limit;
  const half = start + Math.floor(limit / 2);
  const last = (mark: string, from: number, usable: (position: number) => boolean): number => {
    let at = text.lastIndexOf(mark, most);
    while (at > from && !usable(at)) at = text.lastIndexOf(mark, at - 1);
    return at > from ? at : -1;
  };
  const outside = (position: number) => !inBlock(position);
  const anywhere = () => true;
  const candidates = [
    last("\n\n", half, outside),
    last("\n", half, outside),
    last("\n", half, anywhere),
    last(" ", half, anywhere),
    last("\n", start, anywhere),
    last(" ", start, anywhere),
  ];
  return candidates.find((at) => at > start) ?? betweenCharacters(text, start, most);
}

/** The nearest position, at or before the given one, that splits no surrogate pair, accent or joined emoji. */
function betweenCharacters(text: string, start: number, position: number): number {
  const low = (at: number) =>
    (text.charCodeAt(at) & 0xfc00) === 0xdc00 && (text.charCodeAt(at - 1) & 0xfc00) === 0xd800;
  let at = position;
  for (let steps = 0; steps < 32 && at > start + 1; steps += 1, at -= 1) {
    const next = String.fromCodePoint(text.codePointAt(at) ?? 0);
    if (!low(at) && !/^(?:\p{M}|\u200d|\p{Emoji_Modifier})$/u.test(next) && text[at - 1] !== "\u200d") return at;
  }
  return low(position) && position - 1 > start ? position - 1 : position;
}
