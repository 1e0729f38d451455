// What every channel promises, whatever platform is behind it: the same scenarios against each adapter and its strict fake.
import { describe } from "bun:test";
import { stage } from "./contract/platform.ts";
import { receiving } from "./contract/receiving.ts";
import { sending } from "./contract/sending.ts";
import { telegram } from "./contract/telegram.ts";

const platforms = [["Telegram", telegram, { listens: true, posted: true, groups: true, exclusive: true }]] as const;

describe.each(platforms)("%s", (_, start, ways) => {
  const on = stage(start, ways);
  receiving(on);
  sending(on);
});
