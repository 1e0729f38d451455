// Begins a log anew behind a file's last entry, after the engine has lost entries that the file has. A message that names that number
// comes first. It is appended behind the end that the node saw before it asked whether it has the cell: a node that has lost the cell
// since is refused. Moving the end of the log comes second. Any node that finds the message does that again; later it deletes nothing,
// since all numbers are above by then.
import { EngineUnavailable, type LogEngine } from "../engine.ts";
import { isRestart, restartMessage, restartOf } from "./cell-log.ts";

type Bounds = Pick<Awaited<ReturnType<LogEngine["bounds"]>>, "first" | "last">;
type Restarting = Pick<LogEngine, "read" | "append" | "trim">;

/**
 * @param number the last entry of the file
 * @param bounds of the log, from before it was asked whether this node has the cell: what a later owner appends then refuses this
 * Throws `Moved` if another node has appended meanwhile, and `EngineUnavailable`, after which the log has to be read again.
 */
export async function restartLog(engine: Restarting, number: number, { first, last }: Bounds): Promise<void> {
  if (last >= number) throw new EngineUnavailable(`The log has gone on to ${last}.`);
  if (last >= first) await finishRestart(engine, await engine.read(last));
  await engine.append(last, restartMessage(number));
  await engine.trim(number);
}

/** Throws `EngineUnavailable` if the message begins the log anew: then it does, and has to be read again. */
export async function finishRestart(engine: Pick<LogEngine, "trim">, message: Uint8Array | undefined): Promise<void> {
  if (!message || !isRestart(message)) return;
  const number = restartOf(message);
  await engine.trim(number);
  throw new EngineUnavailable(`The log begins anew behind ${number}.`);
}
