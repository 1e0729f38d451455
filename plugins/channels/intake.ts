// What comes in: judged by who sent it, stored by the runtime, and only then confirmed to the platform.
import { ChannelError, type ChannelId, type IncomingMessage, type Sink } from "../../channels/channel.ts";
import { AppError } from "../../src/errors.ts";
import type { Kernel, ServiceOf } from "../../src/plugin.ts";
import type { agents as agentsPlugin } from "../agents/index.ts";
import type { Arrival, runtime as runtimePlugin } from "../runtime/index.ts";
import { judge } from "./access.ts";
import type { Line } from "./lines.ts";
import { storedId } from "./message-id.ts";
import { UNPROVEN } from "./meter.ts";
import type { News } from "./news.ts";
import type { Pairings } from "./pairings.ts";
import type { Resumes } from "./resumes.ts";

const REPLY_WITHIN = 20_000;

interface Deps extends Pick<Kernel, "log" | "metrics"> {
  agents: Pick<ServiceOf<typeof agentsPlugin>, "find" | "settings">;
  runtime: Pick<ServiceOf<typeof runtimePlugin>, "accept" | "settled">;
  pairings: Pairings;
  resumes: Resumes;
  lost: News["lost"];
}

export interface Intake {
  /** Where an adapter puts what comes in over this line. */
  sinkOf(line: Line, alive?: () => void): Sink;
  /** Says something to somebody outside any conversation; what goes wrong is only noted. */
  say(line: Line, peer: string, text: string): Promise<boolean>;
  /** The same, not waited for. */
  sayLater(line: Line, peer: string, text: string): void;
  /** Ends what is still being said. */
  stop(): Promise<void>;
}

export function createIntake({ agents, runtime, pairings, resumes, lost, log, metrics }: Deps): Intake {
  const taken = metrics.counter("berth_channel_messages_total", "Messages that came over channels.", [
    "channel",
    "outcome",
  ]);
  const stopping = new AbortController();
  const notices = new Set<Promise<unknown>>();
  const counters = new Map<string, ReturnType<typeof taken.labels>>();
  function count(channel: ChannelId, outcome: "accepted" | "refused"): void {
    const key = `${channel} ${outcome}`;
    let counter = counters.get(key);
    if (!counter) {
      counter = taken.labels({ channel, outcome });
      counters.set(key, counter);
    }
    counter.inc();
  }

  async function accept(line: Line, messages: IncomingMessage[]): Promise<void> {
    const { agentId } = line.connection;
    const agent = await agents.find(agentId);
    // Not confirmed, so that the platform keeps it until the agent is up again.
    if (!agent || agent.status === "stopped") throw new AppError(409, "AGENT_STOPPED", "This agent is stopped.");
    const arrivals: Arrival[] = [];
    for (const message of messages) {
      const arrival = await admit(line, message);
      if (arrival) arrivals.push(arrival);
    }
    if (arrivals.length > 0) await runtime.accept(arrivals);
  }

  /** The message as the runtime takes it; undefined when its sender may not talk here. */
  async function admit(line: Line, message: IncomingMessage): Promise<Arrival | undefined> {
    const { agentId, channel, ownerId } = line.connection;
    const { sender, peer, group, text, attachments } = message;
    const settings = (await agents.settings(agentId)).channels?.[channel] ?? {};
    const verdict = judge(message, settings, ownerId);
    const paired = verdict.kind === "paired-only" && (await pairings.isApproved(agentId, channel, sender.id));
    if (verdict.kind === "welcome" || paired) {
      count(channel, "accepted");
      const byOwner = verdict.kind === "welcome" && verdict.byOwner;
      const platformMessageId = storedId(line.binding.bot, message.platformMessageId);
      const arrival = { agentId, platform: channel, platformMessageId, to: { peer }, sender, byOwner, group };
      return { ...arrival, content: text, ...(attachments ? { attachments } : {}) };
    }
    count(channel, "refused");
    const reason = verdict.kind === "refused" ? verdict.reason : "not paired";
    log.debug("a message was refused", { agentId, channel, sender: sender.id, reason });
    // In a group everybody would read the code.
    if (verdict.kind === "paired-only" && !group) await offerPairing(line, message);
    return undefined;
  }

  async function offerPairing(line: Line, message: IncomingMessage): Promise<void> {
    const { agentId, channel } = line.connection;
    const code = await pairings.ask(agentId, channel, message);
    if (code === undefined) return;
    const text = `I don't know you yet. If you want to talk to me, ask my owner to approve this code: **${code}**\nIt is good for one hour.`;
    // Not waited for: the platform is to be told soon that the message arrived.
    later(
      line,
      say(line, message.peer, text).then((said) =>
        said ? undefined : pairings.withdraw(agentId, channel, message.sender.id),
      ),
    );
  }

  function later({ connection: { agentId } }: Line, saying: Promise<unknown>): void {
    const notice = saying
      .catch((error: unknown) => log.error("a notice could not be given", { agentId, error }))
      .finally(() => notices.delete(notice));
    notices.add(notice);
  }

  async function say({ channel, binding }: Line, peer: string, text: string): Promise<boolean> {
    const message = { id: Bun.randomUUIDv7(), peer, text, attempts: 0, deliveredParts: [] };
    const signal = AbortSignal.any([stopping.signal, AbortSignal.timeout(REPLY_WITHIN)]);
    try {
      await channel.send(binding, message, () => undefined, signal);
      return true;
    } catch (error) {
      if (!(error instanceof ChannelError)) throw error;
      log.debug("a notice was not delivered", { agentId: binding.agentId, reason: error.message });
      return false;
    }
  }

  return {
    sinkOf: (line, alive = () => undefined) => ({
      accept: (messages) => accept(line, messages),
      alive,
      keep: (resume) => resumes.keep(line, resume),
      settled: (ids) => runtime.settled(line.connection.agentId, ids),
      undelivered: (failures) => lost(line.connection, failures),
      unproven: (posts) => line.posts.charge(posts * UNPROVEN - 1),
    }),
    say,
    sayLater: (line, peer, text) => later(line, say(line, peer, text)),
    async stop() {
      stopping.abort();
      await Promise.all(notices);
    },
  };
}
