import { alerted, type Incident, lineWith, pass } from "../incident.ts";

/** As long as all tries of a turn take. */
const RETRIES_MS = 160_000;

export const deadProvider: Incident = {
  name: "the provider is dead",
  async play(world, monitor) {
    const { berth, talk, upstream, ada, bob } = world;
    await pass(world, monitor, 2, () => talk.say(2));
    await talk.answered("the messages before");
    upstream.script(() => ({ status: 500, message: "The fake's engine is on fire." }));
    await pass(world, monitor, 20, () => talk.say());
    const alerts = await monitor.alerts();
    const doctor = await berth.command("doctor", "--online");
    const alert = await alerted(monitor, "BerthProviderPaused");
    const shown = await notes(world);
    upstream.script(undefined);
    await pass(world, monitor, 3, () => talk.say(1));
    // Failed turns are tried again after two minutes at most, of a timer that the moved clock does not hurry; five times.
    await talk.answered("the messages of the dead provider", RETRIES_MS).catch(() => undefined);
    const givenUp = await talk.givenUp();
    if (givenUp > 0) for (const { client, agentId } of [ada, bob]) await client.post(`/api/agents/${agentId}/repair`);
    await talk.answered("the messages that had been given up");
    return {
      saw: [
        alert,
        `also ${
          alerts
            .map(({ name }) => name)
            .filter((name) => name !== "BerthProviderPaused")
            .join(", ") || "nothing"
        }`,
        `doctor: ${lineWith(`${doctor.stdout}\n${doctor.stderr}`, "Provider")}`,
      ],
      did: [
        "waited for the provider",
        ...(givenUp > 0 ? ["repaired the agents, so that given up messages are answered"] : []),
      ],
      noticed: [
        ...shown,
        `${givenUp} messages were given up after five tries, and answered after the repair; all others were answered by themselves`,
      ],
    };
  },
};

/** What the bots have said meanwhile beside echoes. */
async function notes({ telegram, ada }: Parameters<Incident["play"]>[0]): Promise<string[]> {
  const sent = await telegram.sent(ada.token);
  const texts = sent.map(({ text }) => text).filter((text) => !text.startsWith("echo: "));
  return [...new Set(texts)].map((text) => `"${text}"`);
}
