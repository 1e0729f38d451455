// WhatsApp, which posts messages to the load balancer, and repeats those that were not accepted.
import type { SpawnedWhatsApp } from "../../support/whatsapp-control.ts";
import { type Bot, connect, itemOf, type Way, type WayOptions } from "./way.ts";

export const WHATSAPP_ENV = { CHANNEL_C_APP_ID: "9001", CHANNEL_C_APP_SECRET: "the-app-of-the-fault-run" };
const CHATS_OF_A_BOT = 3;
const FIRST_NUMBER = 15_550_000_000;

export async function openWhatsApp(whatsapp: SpawnedWhatsApp, options: WayOptions): Promise<Way> {
  const bots: Bot[] = [...options.accounts.keys()].map((cell) => ({ token: `EAAtokenOfCell${cell}`, cell }));
  await whatsapp.addApp(WHATSAPP_ENV.CHANNEL_C_APP_ID, WHATSAPP_ENV.CHANNEL_C_APP_SECRET);
  await whatsapp.addAccounts(bots.map(({ token, cell }) => ({ token, waba: String(102_290_129_000_000 + cell) })));
  await connect("channel_c", bots, options);
  return {
    name: "WhatsApp",
    cells: Array.from({ length: bots.length * CHATS_OF_A_BOT }, (_, chat) => itemOf(bots, chat).cell),
    isPlatform: true,
    async says(chat, text) {
      await whatsapp.usersSay([{ token: itemOf(bots, chat).token, text, says: { from: String(FIRST_NUMBER + chat) } }]);
    },
    async replies() {
      const sent = await Promise.all(bots.map(({ token }) => whatsapp.sent(token)));
      return sent.flat().map(({ to, text, at }) => ({ chat: Number(to) - FIRST_NUMBER, text, at }));
    },
  };
}
