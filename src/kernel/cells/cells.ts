// What a cell knows of the others: which of them has a name, and how to have a name alone.
// A service of one cell has none of this (`kernel.cells` is undefined), and these functions then do nothing.
import type { Actor } from "../audit/actor.ts";
import { AppError } from "../errors.ts";
import { sha256Hex } from "../util/tokens.ts";
import type { AccountHooks } from "./account-hooks.ts";
import { type Forwarding, forwardingOf } from "./forwarding.ts";
import { cellOfToken, type Marks } from "./marks.ts";

/** A name from outside that must be unique in the whole service, such as an e-mail address. */
export interface Name {
  /** Chosen by the plugin that registers it. */
  kind: string;
  name: string;
}

export interface Cells {
  /** The number of this cell. */
  readonly here: number;
  /** The numbers of the others. */
  readonly others: readonly number[];
  readonly marks: Marks;
  /** The cell that has a name, or has reserved it. */
  find(name: Name): Promise<number | undefined>;
  /**
   * Reserves names for this cell, does the write that uses them, and confirms them. Throws `NameTaken`, before the write, if
   * another cell has one. A reservation whose write failed or was killed ends after ten minutes.
   */
  using<T>(names: readonly Name[], write: () => Promise<T>): Promise<T>;
  /** Registers how to find out whether this cell uses a name of this kind. Call it while the plugin is set up. */
  registerNames(kind: string, isUsed: (name: string) => Promise<boolean>): void;
  /** Registers what this plugin does when an account moves. Call it while the plugin is set up. */
  onAccountMoves(hooks: AccountHooks): void;
  /**
   * The cell of what was given out as one of these ids, names or hashes of tokens, if its account has left this cell since, or has come
   * from another one. Undefined if it has not, or is moving at this moment.
   */
  movedTo(keys: readonly string[]): Promise<number | undefined>;
  /** Whether what was given out as one of these is of an account that is on its way from or to this cell at this moment. */
  isMoving(keys: readonly string[]): Promise<boolean>;
  /** Moves an account here from the cell that has it. Throws 409 `ACCOUNT_MOVING` if it moves already, and 404 `USER_NOT_FOUND`. */
  bring(account: string, by: Actor): Promise<void>;
  /** What the directory has of an account of this cell. */
  namesOf(account: string): Promise<Name[]>;
  /** How many ids, names and hashes of tokens all cells keep of an account, so that they lead to it since it has moved. */
  countKept(account: string): Promise<number>;
  /** The account was deleted: all cells forget it, and the directory its names. May be repeated. Throws if a cell can't be reached. */
  forgetAccount(account: string, names: readonly Name[]): Promise<void>;
  /** Whether this cell uses a name, or is about to. */
  knows(name: Name): Promise<boolean>;
  /** The cell with the least to do, for a new account. */
  leastLoaded(): Promise<number>;
  /** Registers what this cell does when another one asks for it. Call it while the plugin is set up. */
  answer(question: string, handle: (text: string) => Promise<string>): void;
  /** Asks another cell. Throws if it can't be reached. */
  ask(cell: number, question: string, text: string): Promise<string>;
}

export class NameTaken extends Error {
  override readonly name = "NameTaken";

  constructor(
    readonly taken: Name,
    /** The cell that has it. */
    readonly cell: number,
  ) {
    super(`Cell ${cell} has this ${taken.kind}.`);
  }
}

/**
 * The request belongs to another cell: the router sends it there, with what this cell has learned already. Thrown before
 * anything is written.
 */
export class Elsewhere extends AppError {
  constructor(
    readonly cell: number,
    readonly forwarding: Forwarding = {},
  ) {
    super(421, "OTHER_CELL", "Another part of this service has this.");
  }
}

/** Throws `Elsewhere` unless the account is here for which the token was made. */
export async function requireTokenHere(cells: Maybe<"here" | "others" | "movedTo">, token: string): Promise<void> {
  if (cells) requireHere(cells, (await cells.movedTo([sha256Hex(token)])) ?? cellOfToken(token));
}

type Maybe<Part extends keyof Cells> = Pick<Cells, Part> | undefined;

/** Throws `Elsewhere` for another cell than this one. Cell 0 answers for what a cell gave out that was removed. */
export function requireHere(cells: Maybe<"here" | "others">, cell: number | undefined, forwarding?: Forwarding): void {
  if (!cells || cell === undefined || cell === cells.here) return;
  const open = cells.others.includes(cell) ? cell : 0;
  if (open !== cells.here) throw new Elsewhere(open, forwarding);
}

/** Throws `Elsewhere` if another cell has the name; else whether this one has it, if only by a reservation. */
export async function requireNameHere(cells: Maybe<"here" | "others" | "find">, name: Name): Promise<boolean> {
  const cell = await cells?.find(name);
  requireHere(cells, cell);
  return cell !== undefined;
}

/**
 * Throws `Elsewhere` unless a new account is to be made here: in the `wanted` cell, else in the one with the least to do. Cell 0
 * decides, since it counts the new accounts of an address.
 */
export async function placeNewAccount(
  cells: Maybe<"here" | "others" | "leastLoaded">,
  forwarding: Forwarding | undefined,
  wanted?: number,
): Promise<void> {
  if (!cells || forwarding?.isPlaced) return;
  if (cells.here !== 0) throw new Elsewhere(0);
  requireHere(cells, wanted ?? (await cells.leastLoaded()), { isPlaced: true });
}

/** Whether cell 0 has counted this request against the limits of its client's address, and sent it here. */
export const isCountedElsewhere = (cells: Maybe<"here">, request: Request) =>
  cells !== undefined && cells.here !== 0 && forwardingOf(request) !== undefined;

/** Does a write that uses names: see `Cells.using`. */
export const usingNames = <T>(cells: Maybe<"using">, names: readonly Name[], write: () => Promise<T>): Promise<T> =>
  cells ? cells.using(names, write) : write();
