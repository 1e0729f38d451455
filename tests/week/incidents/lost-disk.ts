import { copyFileSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { alerted, type Incident, lineWith, pass } from "../incident.ts";

/** What BACKUP_CONTINUOUS promises, in ms of real time. */
const PROMISED_MS = 10_000;

export const lostDisk: Incident = {
  name: "the disk with the data folder is gone",
  async play(world, monitor) {
    const { berth, talk, disk, elsewhere } = world;
    const data = join(disk, "data");
    // The operator has kept it elsewhere, as the guides say. The list of erasures comes with the backup.
    const kept = "secret.key";
    copyFileSync(join(data, kept), join(elsewhere, kept));
    const stopTalking = talk.keepTalking();
    await Bun.sleep(15_000);
    await berth.kill();
    const goneAt = performance.now();
    await stopTalking();
    rmSync(data, { recursive: true });
    await pass(world, monitor, 4);
    const alert = await alerted(monitor, "BerthDown");
    mkdirSync(data, { mode: 0o700 });
    copyFileSync(join(elsewhere, kept), join(data, kept));
    const restored = await berth.command("restore", "latest");
    if (restored.exitCode !== 0) throw new Error(`berth restore: ${restored.stdout}${restored.stderr}`);
    await berth.restart({ keepPorts: true });
    const { lost, oldestMs } = await talk.afterLoss(goneAt);
    if (oldestMs > PROMISED_MS) throw new Error(`A message of ${oldestMs} ms before the loss is lost.`);
    await talk.say(2);
    await talk.answered("the messages after the restore");
    return {
      saw: [alert, lineWith(`${restored.stdout}${restored.stderr}`, "Restored from")],
      did: [`put the kept ${kept} into a new data folder`, "berth restore latest", "berth serve"],
      noticed: [
        lost === 0
          ? "every message was answered"
          : `${lost} messages of the last ${(oldestMs / 1000).toFixed(1)} s before the loss got no answer; all others did`,
      ],
    };
  },
};
