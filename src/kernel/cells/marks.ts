// Marks what a cell makes with the cell's number, so that a request which names it finds the cell without a lookup.
// What cell 0 makes has no mark: so everything from before there were cells is of cell 0.

/** The most cells that a service can have: a number has twelve bits. */
export const MAX_CELLS = 4096;

export interface Marks {
  /** The number of the cell that makes them. */
  readonly cell: number;
  /**
   * A unique id in the order of time: a UUIDv7 in cell 0; in others a UUIDv8 (RFC 9562, section 5.8) of the same layout, whose
   * twelve bits behind the version are the number of the cell.
   */
  newId(): string;
  /** The same token, with the mark behind it: `~` and two characters of base64url. */
  token(token: string): string;
  /** The same name of random letters and digits, with three more of them. */
  label(name: string): string;
}

export const TOKEN_DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
/** Letters and digits without those that look alike. */
export const LABEL_ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789";
const LABEL_LENGTH = 3;
/** Random letters and digits at the end of an agent's subdomain, and of a referral code, without the mark. */
export const SUBDOMAIN_RANDOM_LENGTH = 6;
export const REFERRAL_CODE_LENGTH = 12;

const MARKED_ID = /[0-9a-f]{8}-[0-9a-f]{4}-8([0-9a-f]{3})-[89ab][0-9a-f]{3}-[0-9a-f]{12}/;
const MARKED_TOKEN = /~([\w-])([\w-])$/;

const asItIs = (text: string) => text;
/** Of cell 0. */
export const UNMARKED: Marks = {
  cell: 0,
  newId: () => Bun.randomUUIDv7(),
  token: asItIs,
  label: asItIs,
};

/** The cell that made an id, which may be anywhere in the text; 0 without a mark. */
export function cellOfId(text: string): number {
  const found = MARKED_ID.exec(text)?.[1];
  return found === undefined ? 0 : Number.parseInt(found, 16);
}

/** The cell that made a token; 0 without a mark. */
export function cellOfToken(token: string): number {
  const [, high = "A", low = "A"] = MARKED_TOKEN.exec(token) ?? [];
  return TOKEN_DIGITS.indexOf(high) * 64 + TOKEN_DIGITS.indexOf(low);
}

/** The token with the mark of a cell; cell 0 has none. */
export const markToken = (token: string, cell: number) =>
  cell === 0 ? token : `${token}~${TOKEN_DIGITS[cell >> 6]}${TOKEN_DIGITS[cell & 63]}`;

/** The token as it was before it was marked. */
export const withoutMark = (token: string) => token.replace(MARKED_TOKEN, "");

/** The cell that made a name which ends in `length` random letters and digits, or three more with a mark; 0 without one. */
export function cellOfLabel(name: string, length: number): number {
  const random = name.slice(name.lastIndexOf("-") + 1);
  if (random.length !== length + LABEL_LENGTH) return 0;
  let cell = 0;
  for (const character of random.slice(-LABEL_LENGTH)) {
    const digit = LABEL_ALPHABET.indexOf(character);
    if (digit < 0) return 0;
    cell = cell * LABEL_ALPHABET.length + digit;
  }
  return cell < MAX_CELLS ? cell : 0;
}
