import { rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { eventually } from "../../support/eventually.ts";
import { alerted, type Incident, lineWith, pass } from "../incident.ts";

const MIB = 2 ** 20;

export const fullDisk: Incident = {
  name: "the disk is full",
  async play(world, monitor) {
    const { berth, talk, disk, ada } = world;
    const ballast = join(disk, "ballast");
    await pass(world, monitor, 2, () => talk.say(2));
    await talk.answered("the messages before");
    // Another program fills the disk to the last page.
    const { bavail, bsize } = statfsSync(disk);
    writeFileSync(ballast, Buffer.alloc(Math.max(0, bavail * bsize - 2 * MIB)));
    fill(join(disk, "rest"));
    const doctor = await berth.command("doctor", "--online");
    const refused = new Set<number>();
    await pass(world, monitor, 15, async () => {
      await talk.say(1);
      const { status } = await ada.client.post(`/api/agents/${ada.agentId}/conversations`, {
        message: "Is there room?",
      });
      refused.add(status);
    });
    const alert = await alerted(monitor, "BerthDiskFull");
    if (!berth.running) throw new Error(`The service ended: ${berth.output().stderr.slice(-2_000)}`);
    const { waiting } = await talk.counts();
    rmSync(ballast);
    rmSync(join(disk, "rest"));
    const since = performance.now();
    await talk.answered("the messages of the full disk");
    const seconds = ((performance.now() - since) / 1000).toFixed(1);
    await eventually(async () => (await fetch(`${berth.backend}/readyz`)).ok, { what: "ready again" });
    return {
      saw: [alert, `doctor: ${lineWith(`${doctor.stdout}\n${doctor.stderr}`, "Disk")}`],
      did: ["made room; nothing else, not even a restart"],
      noticed: [
        `the API answered ${[...refused].join(" and ")}; ${waiting} messages of bots waited on the platform`,
        `all answered ${seconds} s after there was room`,
      ],
    };
  },
};

/** Writes until not one page is left. */
function fill(path: string): void {
  for (let _size = 0; ; _size += 4_096) {
    try {
      writeFileSync(path, Buffer.alloc(4_096), { flag: "a" });
    } catch {
      return;
    }
  }
}
