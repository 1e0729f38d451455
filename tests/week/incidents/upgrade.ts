import { copyFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { publicKeyOf, signFile } from "../../../scripts/release-signature.mjs";
import { type Incident, lineWith } from "../incident.ts";
import { hammer } from "../load.ts";
import type { World } from "../world.ts";

const built = resolve(import.meta.dir, "../../../dist/berth");

/** A release as it is published: the program, its checksum and the signature. */
async function publish({ folder, releaseKey }: World): Promise<string> {
  const path = join(folder, "berth-next-linux-x64");
  rmSync(path, { force: true });
  copyFileSync(built, path);
  const digest = new Bun.CryptoHasher("sha256").update(await Bun.file(path).bytes()).digest("hex");
  writeFileSync(`${path}.sha256`, `${digest}  ${path.split("/").at(-1)}\n`);
  signFile(`${path}.sha256`, releaseKey);
  writeFileSync(join(folder, "release-key.pem"), publicKeyOf(releaseKey));
  return path;
}

async function upgradeUnderLoad(world: World, exitCode: number) {
  const release = await publish(world);
  const { berth, talk } = world;
  const stopTalking = talk.keepTalking();
  const load = hammer(world);
  const ran = await berth.command("upgrade", release, "--key", "release-key.pem");
  if (ran.exitCode !== exitCode) throw new Error(`berth upgrade: ${ran.exitCode}\n${ran.stdout}${ran.stderr}`);
  const seen = await load.stop();
  const messages = await stopTalking();
  await talk.answered("the messages during the upgrade");
  if (seen.refused.length > 0) throw new Error(`Requests were refused: ${seen.refused.join("; ")}`);
  return {
    ran,
    noticed: `${seen.requests} requests: none refused, the longest took ${seen.longestMs} ms; ${messages} messages of bots: all answered`,
  };
}

export const upgrade: Incident = {
  name: "an upgrade under load",
  async play(world) {
    const { ran, noticed } = await upgradeUnderLoad(world, 0);
    return {
      saw: [`the command: "${lineWith(ran.stdout, "ms")}"`],
      did: ["berth upgrade FILE --key …"],
      noticed: [noticed],
    };
  },
};

export const failedUpgrade: Incident = {
  name: "an upgrade that does not start, under load",
  async play(world) {
    writeFileSync(join(world.folder, "fail-once"), "");
    const { ran, noticed } = await upgradeUnderLoad(world, 1);
    return {
      saw: [`the command: "${lineWith(`${ran.stdout}${ran.stderr}`, "runs again")}"`],
      did: ["nothing: the old version runs"],
      noticed: [noticed],
    };
  },
};
