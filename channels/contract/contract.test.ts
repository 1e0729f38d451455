// What every channel promises, whatever platform is behind it: the same scenarios against each adapter and its strict fake.
import { describe } from "bun:test";
import { createDiscordFixture } from "./discord-fixture.ts";
import { createHarness } from "./harness.ts";
import { defineReceivingScenarios } from "./receiving-scenarios.ts";
import { defineSendingScenarios } from "./sending-scenarios.ts";
import { createTelegramFixture } from "./telegram-fixture.ts";
import { createWhatsAppFixture } from "./whatsapp-fixture.ts";

const fixtures = [
  [
    "Telegram",
    createTelegramFixture,
    { hasListener: true, hasWebhook: true, hasGroups: true, hasPreviews: true, isSingleReceiver: true },
  ],
  [
    "Discord",
    createDiscordFixture,
    { hasListener: true, hasWebhook: false, hasGroups: true, hasPreviews: true, isSingleReceiver: false },
  ],
  [
    "WhatsApp",
    createWhatsAppFixture,
    { hasListener: false, hasWebhook: true, hasGroups: false, hasPreviews: false, isSingleReceiver: false },
  ],
] as const;

describe.each(fixtures)("%s", (_, start, capabilities) => {
  const harness = createHarness(start, capabilities);
  defineReceivingScenarios(harness);
  defineSendingScenarios(harness);
});
