// Measures files that an agent knows: reading 10,000 passages, searching them, and what others wait meanwhile.

import { eventually } from "../tests/support/eventually.ts";
import { type Benchmark, median, ms, quantile } from "./support/figures.ts";
import { ownerOf, startService, startUpstream } from "./support/service.ts";
import { watchStalls } from "./support/stalls.ts";

const PASSAGES = 10_000;
const FILES = 2;
const QUESTIONS = 300;
const SEARCH_MS = 20;

/** Words as unequal in frequency as those of a language (Zipf). */
const wordAt = (n: number) => `w${Math.floor(2_000 ** (((n * 7919) % 10_007) / 10_007))}`;
/** Each is one passage, and names itself in a word that no other has. */
const passage = (n: number) =>
  `Passage unique${n}: ${Array.from({ length: 170 }, (_, word) => wordAt(n * 170 + word)).join(" ")}.`;
const question = (n: number) =>
  `What does ${wordAt(n * 13)} mean for ${wordAt(n * 31)} and ${wordAt(n * 57)} in unique${(n * 37) % PASSAGES}?`;

export const knowledge: Benchmark = {
  name: "knowledge",
  summary: "10,000 passages of files read and searched, and the worst /healthz beside it",
  async run() {
    await using upstream = await startUpstream();
    await using berth = await startService(upstream);
    const { client, agentIds } = await ownerOf(berth, 1);
    const path = `/api/agents/${agentIds[0]}`;
    using watch = await watchStalls(berth);
    const began = performance.now();
    for (let file = 0; file < FILES; file++) {
      const count = PASSAGES / FILES;
      const text = Array.from({ length: count }, (_, n) => passage(file * count + n)).join("\n\n");
      const body = new FormData();
      body.set("file", new File([text], `book-${file}.txt`));
      const sent = await fetch(`${berth.web}${path}/files`, {
        method: "POST",
        body,
        headers: { cookie: client.cookie },
      });
      if (sent.status !== 202) throw new Error(`The file was refused: ${sent.status} ${await sent.text()}`);
    }
    const used = await eventually(
      async () => {
        const { body } = await client.get<{ files: { status: string }[]; used: { chunks: number } }>(`${path}/files`);
        return body.files.every(({ status }) => status === "ready") ? body.used : undefined;
      },
      { timeoutMs: 120_000, everyMs: 200 },
    );
    const seconds = (performance.now() - began) / 1000;
    if (used.chunks < PASSAGES) throw new Error(`${used.chunks} passages were stored of ${PASSAGES}.`);
    const whileRead = watch.figure("worst /healthz while files are read", await watch.longest());

    const times: number[] = [];
    for (let n = 0; n < QUESTIONS; n++) {
      const at = performance.now();
      const given = new URLSearchParams({ query: question(n) });
      const { body } = await client.get<{ results: { text: string }[] }>(`${path}/knowledge?${given}`);
      times.push(performance.now() - at);
      const wanted = `unique${(n * 37) % PASSAGES}:`;
      if (!body.results.some(({ text }) => text.includes(wanted))) throw new Error(`Not found: ${question(n)}`);
    }
    const whileSearched = watch.figure("worst /healthz while they are searched", await watch.longest());
    const backup = await client.post(`${path}/backups`, {});
    if (backup.status >= 300) throw new Error(`No backup: ${backup.status} ${backup.text}`);
    const whileSaved = watch.figure("worst /healthz while they are backed up", await watch.longest());

    const middle = median(times);
    return [
      {
        what: `a search in ${used.chunks} passages, median`,
        figure: ms(middle),
        baseline: `p99 ${ms(quantile(times, 0.99))}`,
        goal: `≤ ${SEARCH_MS} ms`,
        met: middle <= SEARCH_MS,
      },
      { what: "all of them read", figure: `${seconds.toFixed(1)} s`, baseline: "", goal: "" },
      whileRead,
      whileSearched,
      whileSaved,
    ];
  },
};
