import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { temporaryDir } from "../tests/support/process.ts";
import { allGood, load } from "./support/load.ts";
import { ownerOf, startService, startUpstream } from "./support/service.ts";
import { messages } from "./turns.ts";
const cpu = (pid: number) => { const f = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]!.split(" "); return (Number(f[11]) + Number(f[12])) * 10; };
const rss = (pid: number) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;
const peak = (pid: number) => Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;
const children = (pid: number) => readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").filter(Boolean).map(Number);
const a = temporaryDir(), b = temporaryDir();
await using upstream = await startUpstream();
await using off = await startService(upstream, { dir: a.path });
await using on = await startService(upstream, { dir: b.path, env: { BACKUP_CONTINUOUS: "true", BACKUP_TO: join(b.path, "to") } });
const [o1, o2] = [await ownerOf(off, 25), await ownerOf(on, 25)];
await Bun.sleep(8000);
const metric = async (s: any, n: string) => Number(new RegExp(`^${n} (\\S+)$`, "m").exec(await (await fetch(`${s.backend}/metrics`)).text())?.[1]);
for (const c of [50, 1]) {
  for (const [name, svc, owner] of [["off", off, o1], ["on", on, o2], ["off", off, o1], ["on", on, o2], ["off", off, o1], ["on", on, o2]] as const) {
    await metric(svc, "berth_event_loop_lag_seconds");
    const kids = name === "on" ? children(svc.pid) : [];
    const [before, kb] = [cpu(svc.pid), kids.map(cpu)];
    const seg = await metric(svc, "berth_backup_copy_bytes_total");
    const r = await load({ stages: [{ name: "x", origin: svc.web, connections: c, asks: messages(owner), seconds: c === 50 ? 6 : 3 }], rounds: 1 });
    const g = allGood(r, "x");
    const lag = await metric(svc, "berth_event_loop_lag_seconds");
    console.log(`c${c} ${name}: ${g.rate.toFixed(0)}/s p50 ${g.p50.toFixed(2)} ms, cpu ${((cpu(svc.pid) - before) / g.answers).toFixed(3)} ms/turn, child ${(kids.reduce((s, k, n) => s + cpu(k) - kb[n]!, 0) / g.answers).toFixed(3)} ms/turn, lag ${(lag * 1000).toFixed(0)} ms, stored ${((await metric(svc, "berth_backup_copy_bytes_total") - seg) / g.answers).toFixed(0)} B/turn, rss ${rss(svc.pid).toFixed(0)} child ${kids.map((k) => `${rss(k).toFixed(0)}/${peak(k).toFixed(0)}`)}`);
  }
}
await Bun.sleep(6000);
const to = join(b.path, "to");
for (const n of readdirSync(to).sort()) console.log(n, statSync(join(to, n)).size);
console.log(await metric(on, "berth_database_checkpoint_seconds_sum"), await metric(on, "berth_database_checkpoint_seconds_count"), "off", await metric(off, "berth_database_checkpoint_seconds_sum"), await metric(off, "berth_database_checkpoint_seconds_count"), "max wait buckets");
console.log((await (await fetch(`${on.backend}/metrics`)).text()).split("\n").filter((l) => /queue_wait_seconds_bucket/.test(l)).join("\n"));
console.log((await (await fetch(`${off.backend}/metrics`)).text()).split("\n").filter((l) => /queue_wait_seconds_bucket/.test(l)).join("\n"));
process.exit(0);
