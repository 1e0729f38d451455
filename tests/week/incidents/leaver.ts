import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { eventually } from "../../support/eventually.ts";
import { type Incident, lineWith } from "../incident.ts";
import { OPEN, type World } from "../world.ts";

/** Words that only the customer and the people around them have used. */
const MARKER = "Zanzibar-7731";

export const leaver: Incident = {
  name: "a customer leaves and wants to be forgotten",
  async play(world) {
    const { bob, berth, talk, telegram } = world;
    await bob.client.put(`/api/agents/${bob.agentId}/config`, { ...OPEN, instructions: `Speak of ${MARKER}.` });
    await telegram.userSays(bob.token, 4_711, `Where is ${MARKER}?`);
    await eventually(async () => (await telegram.sent(bob.token, 4_711)).some(({ text }) => text.includes(MARKER)));
    await talk.answered("the messages before");
    const person = ["--account", bob.client.account.email];
    const run = async (...args: string[]) => {
      const { exitCode, stdout, stderr } = await berth.command("person", ...args);
      if (exitCode !== 0) throw new Error(`berth person ${args[0]}: ${stdout}${stderr}`);
      return stdout + stderr;
    };
    await run("export", ...person, "--out", "bob.tar.gz");
    const erased = await run("erase", ...person, "--yes", "--out", "receipt.json");
    talk.forget(bob.token);
    const verified = await run("verify", "receipt.json");
    const left = filesWith(join(world.disk, "data"), MARKER);
    if (left.length > 0) throw new Error(`${MARKER} is still in ${left.join(", ")}`);
    const bytes = statSync(join(world.folder, "bob.tar.gz")).size;
    return {
      saw: [`the receipt: "${lineWith(verified, "receipt")}"`, lineWith(erased, "deleted")],
      did: ["berth person export", "berth person erase", "berth person verify"],
      noticed: [
        `the customer: a copy of all their data (${bytes} bytes), then a receipt; their words are in no byte of the data folder`,
      ],
    };
  },
};

function filesWith(folder: World["disk"], text: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile() && readFileSync(path).includes(text));
}
