// What a cell tells and asks the others: uses names under reservations of the directory, and answers whether it has one.
import type { Actor } from "../../kernel/audit/actor.ts";
import type { AccountHooks } from "../../kernel/cells/account-hooks.ts";
import { type Cells, type Name, NameTaken } from "../../kernel/cells/cells.ts";
import { createMarks } from "../../kernel/cells/create-marks.ts";
import type { Log } from "../../kernel/telemetry/log.ts";
import type { Directory } from "./directory.ts";

export interface CellNamesDeps {
  here: number;
  /** How many cells there are. */
  count(): number;
  directory: Pick<Directory, "find" | "reserve" | "confirm">;
  leastLoaded(): Promise<number>;
  ask(cell: number, question: string, text: string): Promise<string>;
  /** Moves an account here, because somebody wants it. */
  bring(account: string, by: Actor): Promise<unknown>;
  log: Pick<Log, "warn">;
}

/** What a cell knows of accounts that move, once it is open. */
export interface AccountsOnTheMove {
  movedTo: Cells["movedTo"];
  isMoving: Cells["isMoving"];
  countKept: Cells["countKept"];
  forgetAccount: Cells["forgetAccount"];
  namesOf: Cells["namesOf"];
  /** Whether a name is one of an account that is arriving: its rows are not here yet. */
  isArriving(name: Name): Promise<boolean>;
}

export interface CellNames extends Cells {
  /** What plugins do when an account moves. */
  readonly accountHooks: readonly AccountHooks[];
  /** Call it before the cell is opened again in this process: its plugins register theirs anew. */
  forgetHooks(): void;
  /** Says who knows of accounts that move. */
  attach(accounts: AccountsOnTheMove): void;
  /** Whether this cell's rows use the name. */
  uses(name: Name): Promise<boolean>;
  /** Answers another cell. */
  answerTo(question: string, text: string): Promise<string>;
}

export function createCellNames({ here, count, directory, leastLoaded, ask, bring, log }: CellNamesDeps): CellNames {
  const kinds = new Map<string, (name: string) => Promise<boolean>>();
  const accountHooks: AccountHooks[] = [];
  let moving: AccountsOnTheMove | undefined;
  const answers = new Map<string, (text: string) => Promise<string>>();
  /** Names of writes under way, with how many there are. */
  const inUse = new Map<string, number>();
  const keyOf = ({ kind, name }: Name) => `${kind} ${name}`;

  function track(names: readonly Name[], by: 1 | -1): void {
    for (const key of names.map(keyOf)) {
      const next = (inUse.get(key) ?? 0) + by;
      if (next > 0) inUse.set(key, next);
      else inUse.delete(key);
    }
  }
  const uses = async ({ kind, name }: Name) => (await kinds.get(kind)?.(name)) ?? false;

  return {
    here,
    get others() {
      return Array.from({ length: count() }, (_, cell) => cell).filter((cell) => cell !== here);
    },
    marks: createMarks(here),
    find: directory.find,
    leastLoaded,
    ask,
    uses,
    accountHooks,
    forgetHooks: () => void accountHooks.splice(0),
    attach(accounts) {
      moving = accounts;
    },
    onAccountMoves: (hooks) => void accountHooks.push(hooks),
    movedTo: async (keys) => moving?.movedTo(keys),
    isMoving: async (keys) => (await moving?.isMoving(keys)) ?? false,
    countKept: async (account) => (await moving?.countKept(account)) ?? 0,
    forgetAccount: async (account, names) => moving?.forgetAccount(account, names),
    namesOf: async (account) => (await moving?.namesOf(account)) ?? [],
    bring: async (account, by) => void (await bring(account, by)),
    registerNames: (kind, isUsed) => void kinds.set(kind, isUsed),
    // Asked in this order: a write that ends in between has its row by then.
    knows: async (name) => inUse.has(keyOf(name)) || (await uses(name)) || ((await moving?.isArriving(name)) ?? false),

    async using(names, write) {
      track(names, 1);
      try {
        const refused = await directory.reserve(here, names);
        if (refused) throw new NameTaken(refused.taken, refused.cell);
        const result = await write();
        // Without it, the directory asks this cell in ten minutes.
        directory
          .confirm(here, names)
          .catch((error: unknown) => log.warn("a name was not confirmed; the directory will ask", { error }));
        return result;
      } finally {
        track(names, -1);
      }
    },

    answer: (question, handle) => void answers.set(question, handle),
    async answerTo(question, text) {
      const handle = answers.get(question);
      if (!handle) throw new Error(`This cell does not know the question "${question}".`);
      return handle(text);
    },
  };
}
