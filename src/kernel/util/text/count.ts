// Writes a number with its noun, in the singular or the plural.

/** @param many the plural; default: the singular with an s */
export const count = (number: number, one: string, many = `${one}s`): string =>
  `${number} ${number === 1 ? one : many}`;
