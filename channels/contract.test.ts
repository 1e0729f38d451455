// What every channel promises, whatever platform is behind it: the same scenarios against each adapter and its strict fake.
import { describe } from "bun:test";
import { discord } from "./contract/discord.ts";
import { stage } from "./contract/platform.ts";
import { receiving } from "./contract/receiving.ts";
import { sending } from "./contract/sending.ts";
import { telegram } from "./contract/telegram.ts";
import { whatsapp } from "./contract/whatsapp.ts";

const platforms = [
  ["Telegram", telegram, { listens: true, posted: true, groups: true, grows: true, exclusive: true }],
  ["Discord", discord, { listens: true, posted: false, groups: true, grows: true, exclusive: false }],
  ["WhatsApp", whatsapp, { listens: false, posted: true, groups: false, grows: false, exclusive: false }],
] as const;

describe.each(platforms)("%s", (_, start, ways) => {
  const on = stage(start, ways);
  receiving(on);
  sending(on);
});
