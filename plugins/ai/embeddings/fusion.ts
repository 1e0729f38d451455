// Merges what a search by words has found with what is nearest by meaning.

export interface Found {
  seq: number;
  text: string;
}

/** Of reciprocal ranks (Cormack, Clarke and Büttcher 2009). */
const RANK_CONSTANT = 60;
const ofRank = (rank: number) => (RANK_CONSTANT + 1) / (RANK_CONSTANT + 1 + rank);

/**
 * The numbers of both lists, each best first, by their reciprocal ranks. A text that was found by words counts as much as
 * the share of the question's words that it has, and a word that most found texts have counts little: a name that stands in
 * all of them says nothing.
 *
 * @param words of the question, in lower case
 */
export function fuse(
  words: readonly string[],
  byWords: readonly Found[],
  nearest: readonly number[],
): { seq: number; score: number }[] {
  const scores = new Map<number, number>();
  const add = (seq: number, score: number) => scores.set(seq, (scores.get(seq) ?? 0) + score);
  if (nearest.length === 0) for (const [rank, { seq }] of byWords.entries()) add(seq, ofRank(rank));
  else {
    const weights = weightsOf(words, byWords);
    for (const [rank, { seq }] of byWords.entries()) add(seq, ((weights[rank] ?? 0) * ofRank(rank)) / 2);
    for (const [rank, seq] of nearest.entries()) add(seq, ofRank(rank) / 2);
  }
  return [...scores].map(([seq, score]) => ({ seq, score })).sort((a, b) => b.score - a.score);
}

/** The share of the question that each text has, from 0 to 1. */
function weightsOf(words: readonly string[], found: readonly Found[]): number[] {
  const texts = found.map(({ text }) => text.toLowerCase());
  const tells = words.map((word) => {
    const count = texts.filter((text) => text.includes(word)).length;
    return Math.log(1 + texts.length / Math.max(count, 0.5));
  });
  const all = tells.reduce((sum, one) => sum + one, 0);
  return texts.map(
    (text) => words.reduce((sum, word, n) => sum + (text.includes(word) ? (tells[n] ?? 0) : 0), 0) / all,
  );
}
