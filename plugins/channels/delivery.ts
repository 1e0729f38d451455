// What goes out: replies of the outbox, sent through the agent's line, with the platform's answer in the outbox's words.
import { ChannelError, type ChannelId } from "../../channels/channel.ts";
import type { Kernel, ServiceOf } from "../../src/plugin.ts";
import type { agents as agentsPlugin } from "../agents/index.ts";
import type { Deliver, Outcome } from "../runtime/index.ts";
import type { Line, Lines } from "./lines.ts";
import { platformIdOf } from "./message-id.ts";
import type { News } from "./news.ts";
import type { Supervisor } from "./supervisor.ts";

interface Deps extends Pick<Kernel, "log"> {
  agents: Pick<ServiceOf<typeof agentsPlugin>, "find">;
  lines: Lines;
  supervisor: Pick<Supervisor, "refused" | "givenUp">;
  undelivered: News["undelivered"];
}

/** Who delivers for a channel. */
export function createDeliver(channel: ChannelId, { agents, lines, supervisor, undelivered, log }: Deps): Deliver {
  return async (
    { id, agentId, peer, body, replyTo, previewId, parts, attempts },
    delivered,
    signal,
  ): Promise<Outcome> => {
    let line: Line | undefined;
    try {
      const agent = await agents.find(agentId);
      if (!agent) return { kind: "refused", reason: "The agent is gone." };
      if (agent.status === "stopped") return { kind: "held" };
      line = await lines.of(agentId, channel);
      if (!line) return { kind: "refused", reason: `${channel} is not connected any more.` };
      // Who goes on asking with a token that was refused is what platforms ban a whole host for.
      const givenUp = supervisor.givenUp(line);
      if (givenUp !== undefined) return { kind: "refused", reason: givenUp };
      const answered = platformIdOf(line.binding.bot, replyTo);
      const message = {
        id,
        peer,
        text: body,
        attempts,
        deliveredParts: [...parts],
        ...(answered === undefined ? {} : { replyTo: answered }),
        ...(previewId === null ? {} : { previewMessageId: previewId }),
      };
      await line.channel.send(line.binding, message, delivered, signal);
      return { kind: "sent" };
    } catch (error) {
      if (!(error instanceof ChannelError)) {
        log.error("a reply could not be delivered", { agentId, channel, error });
        return { kind: "later", reason: "Berth could not send it." };
      }
      if (error.kind !== "refused") return { kind: "later", reason: error.message, after: error.retryAfter };
      if (error.scope === "bot" && line) supervisor.refused(line, error.message);
      undelivered({ agentId, channel, reason: error.message });
      return { kind: "refused", reason: error.message };
    }
  };
}
