// What other cells and the commands of the service call in a cell.

import type { CallHandlers } from "../../cluster/cells/calls.ts";
import type { CellNames } from "../../cluster/cells/cell-names.ts";
import type { Name } from "../../kernel/cells/cells.ts";
import type { OpenCell } from "../service/cell.ts";
import { readLoad } from "./load.ts";
import type { OpenAccounts } from "./open-accounts.ts";

export const createCellSide = ({ kernel, runCommand }: OpenCell, names: CellNames, accounts: OpenAccounts) =>
  ({
    ...accounts.handlers,
    knows: (name: Name) => names.knows(name),
    answer: ({ question, text }: { question: string; text: string }) => names.answerTo(question, text),
    command: ({ name, args }: { name: string; args: Readonly<Record<string, string>> }) => runCommand(name, args),
    load: () => readLoad(kernel),
  }) satisfies CallHandlers;
