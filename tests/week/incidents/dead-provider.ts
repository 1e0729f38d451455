import { alerted, type Incident, lineWith, pass } from "../incident.ts";

export const deadProvider: Incident = {
  name: "the provider is dead",
  async play(world, monitor) {
    const { berth, talk, upstream } = world;
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
    // Failed turns are tried again after two minutes at most, of a timer that the moved clock does not hurry.
    await talk.answered("the messages of the dead provider", 200_000);
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
      did: ["waited for the provider"],
      noticed: shown,
    };
  },
};

/** What the bots have said meanwhile beside echoes. */
async function notes({ telegram, ada }: Parameters<Incident["play"]>[0]): Promise<string[]> {
  const sent = await telegram.sent(ada.token);
  const texts = sent.map(({ text }) => text).filter((text) => !text.startsWith("echo: "));
  return [...new Set(texts)].map((text) => `"${text}"`);
}
