// Baseline for hosting bots in one process: one grammY Bot each. Prints the memory that a number of them needs, in bytes.

import { Bot } from "grammy";
import { memoryOf } from "./process-usage.ts";
import { tokenOf } from "./seed.ts";

function bot(n: number): Bot {
  const botInfo = {
    id: 1_000_000 + n,
    is_bot: true as const,
    first_name: "Bench",
    username: `bench_${n}_bot`,
    can_join_groups: true,
    can_read_all_group_messages: false,
    can_manage_bots: false,
    supports_inline_queries: false,
    supports_join_request_queries: false,
    can_connect_to_business: false,
    has_main_web_app: false,
    has_topics_enabled: false,
    allows_users_to_create_topics: false,
  };
  const made = new Bot(tokenOf(n), { botInfo });
  made.on("message:text", (context) => context.reply("Hello there"));
  return made;
}

const botCount = Number(Bun.argv[2]);
bot(0);
Bun.gc(true);
const before = memoryOf(process.pid).rss;
const bots = Array.from({ length: botCount }, (_, n) => bot(n));
Bun.gc(true);
process.stdout.write(JSON.stringify({ bots: bots.length, bytes: memoryOf(process.pid).rss - before }));
