// Defines the taint of a text: whether people other than the owner, or sources outside the conversation, had a part in it.

/**
 * Ordered by distrust. `people`: the words of people other than the owner who take part in the conversation. `outside`:
 * web pages, files, forwarded messages, results of tools that read them, imported data.
 */
export const TAINT = { none: 0, people: 1, outside: 2 } as const;

export type Taint = (typeof TAINT)[keyof typeof TAINT];

/** The taint of a context that contains texts of these taints. */
export const highestTaint = (taints: Iterable<Taint>): Taint => {
  let highest: Taint = TAINT.none;
  for (const taint of taints) if (taint > highest) highest = taint;
  return highest;
};
