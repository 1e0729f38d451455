// Runs `berth chat`: one message, or a conversation line by line. The reply goes to standard output, all else to standard error.
import { createInterface } from "node:readline/promises";
import { BerthError, type ChatEvent, type Client } from "../../../../packages/client/src/index.ts";
import type { Flags } from "../options.ts";
import { clean, cleanLine, findAgent, withService } from "./connection.ts";

interface Turn {
  conversationId: string | undefined;
  /** False if the turn waits for an approval. */
  isAnswered: boolean;
}

export const chatCommand = (wanted: string, message: string, flags: Flags): Promise<number> =>
  withService(flags, async (client) => {
    const agent = await findAgent(client, wanted);
    const conversationId = typeof flags.conversation === "string" ? flags.conversation : undefined;
    const isInteractive = message === "" && process.stdin.isTTY === true;
    if (isInteractive) return converse(client, agent, conversationId, flags);
    const text = message || (await Bun.stdin.text()).trim();
    if (text === "") {
      process.stderr.write("berth: there is no message. Give it as an argument, or by a pipe.\n");
      return 2;
    }
    const abort = new AbortController();
    // The turn is cancelled before the program ends.
    process.once("SIGINT", () => abort.abort(new Error("stopped")));
    try {
      const turn = await ask(client, agent.id, text, conversationId, flags, abort.signal);
      return turn.isAnswered ? 0 : 1;
    } catch (error) {
      if (abort.signal.aborted) return 130;
      throw error;
    }
  });

/** Reads messages until the end of input. Ctrl+C stops a turn, and leaves at the prompt. */
async function converse(
  client: Client,
  agent: { id: string; name: string },
  conversation: string | undefined,
  flags: Flags,
) {
  const lines = createInterface({ input: process.stdin, output: process.stderr, prompt: "> " });
  let conversationId = conversation;
  let turn: AbortController | undefined;
  lines.on("SIGINT", () => (turn ? turn.abort(new Error("stopped")) : lines.close()));
  process.stderr.write(`You talk to ${cleanLine(agent.name)}. Ctrl+C stops a reply, Ctrl+D ends.\n`);
  lines.prompt();
  for await (const line of lines) {
    if (line.trim() !== "") {
      turn = new AbortController();
      try {
        ({ conversationId } = await ask(client, agent.id, line, conversationId, flags, turn.signal));
      } catch (error) {
        // What the agent could not do this time is no end of the conversation; what the key may not do is.
        if (!turn.signal.aborted && !(error instanceof BerthError && error.status !== 401 && error.status !== 403))
          throw error;
        process.stderr.write(turn.signal.aborted ? "\n(stopped)\n" : `\n${cleanLine(String(error))}\n`);
      }
      turn = undefined;
    }
    lines.prompt();
  }
  return 0;
}

/** Sends one message and prints its turn. */
async function ask(
  client: Client,
  agentId: string,
  message: string,
  conversationId: string | undefined,
  flags: Flags,
  signal: AbortSignal,
): Promise<Turn> {
  const turn: Turn = { conversationId, isAnswered: false };
  let printed = "";
  for await (const event of client.chat(agentId, { message, conversationId }, { signal })) {
    if (event.type === "turn" || event.type === "reply") turn.conversationId = event.conversationId;
    turn.isAnswered ||= event.type === "reply";
    if (flags.json === true) {
      process.stdout.write(`${JSON.stringify(event)}\n`);
      continue;
    }
    if (event.type === "delta") {
      printed += event.text;
      process.stdout.write(clean(event.text));
    } else if (event.type === "reset" && printed !== "") {
      printed = "";
      process.stdout.write("\n");
      process.stderr.write("(the agent began anew)\n");
    } else if (event.type === "reply") {
      // Deltas may lack what came while the connection was broken for long.
      process.stdout.write(
        printed.trim() === event.text.trim() ? "\n" : `${printed === "" ? "" : "\n"}${clean(event.text)}\n`,
      );
      for (const { name, url } of event.files ?? [])
        process.stderr.write(`(file: ${cleanLine(name)}, ${client.url}${url})\n`);
    } else note(event, client.url, agentId);
  }
  return turn;
}

function note(event: ChatEvent, url: string, agentId: string): void {
  const text = (() => {
    switch (event.type) {
      case "tool":
        return event.state === "called"
          ? `uses ${event.name}`
          : event.state === "failed"
            ? `${event.name} failed`
            : undefined;
      case "approval":
        return `waits for your approval: ${event.summary || event.tool}. Decide at ${url}/agents/${agentId}/approvals`;
      case "waiting":
        return event.message;
      default:
        return undefined;
    }
  })();
  if (text !== undefined) process.stderr.write(`(${cleanLine(text)})\n`);
}
