// Runs `berth logs`: the newest lines of an agent's log, and with -f those to come, over broken connections.
import type { LogLine } from "../../../../packages/client/src/index.ts";
import type { Flags } from "../options.ts";
import { cleanLine, findAgent, withService } from "./connection.ts";

export const logsCommand = (wanted: string, flags: Flags): Promise<number> =>
  withService(flags, async (client) => {
    const { id } = await findAgent(client, wanted);
    const level = typeof flags.level === "string" ? { level: flags.level } : {};
    for await (const line of client.logs(id, { follow: flags.follow === true, ...level })) {
      process.stdout.write(flags.json === true ? `${JSON.stringify(line)}\n` : `${textOf(line)}\n`);
    }
    return 0;
  });

const textOf = ({ timestamp, level, source, message }: LogLine) =>
  `${timestamp.slice(0, 19)}Z ${level.padEnd(7)} ${cleanLine(source)}: ${cleanLine(message)}`;
