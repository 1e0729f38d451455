// Imports the commands of operators at the first call of one of them, so that they take no time at the start.
import { once } from "./util/cache.ts";

/** Takes arguments as texts by name. Resolves with a JSON value. */
type Command = (args: Readonly<Record<string, string>>) => Promise<unknown>;

/** @param load imports and makes the commands; called again if it failed */
export function lateCommands<Name extends string>(
  names: readonly Name[],
  load: () => Promise<Readonly<Record<NoInfer<Name>, Command>>>,
): Record<Name, Command> {
  const commands = once(load);
  const late = (name: Name) => [name, async (args: Parameters<Command>[0]) => (await commands())[name](args)] as const;
  return Object.fromEntries(names.map(late)) as Record<Name, Command>;
}
