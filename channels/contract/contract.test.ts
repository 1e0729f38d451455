// Plays the scenarios that every channel has to pass against each adapter of the registry and the strict fake of its
// platform.
import { afterAll, describe, expect, test } from "bun:test";
import { dovecotIsMissing } from "../../tests/support/dovecot.ts";
import type { ChannelId } from "../port.ts";
import { channelDefinitions } from "../registry.ts";
import { defineChoiceScenarios } from "./choice-scenarios.ts";
import { createDiscordFixture } from "./discord-fixture.ts";
import { createEmailFixture, stopEmailServer } from "./email-fixture.ts";
import { defineFileScenarios } from "./file-scenarios.ts";
import { createHarness, type PlatformFixture } from "./harness.ts";
import { defineReceivingScenarios } from "./receiving-scenarios.ts";
import { defineSendingScenarios } from "./sending-scenarios.ts";
import { createSlackFixture } from "./slack-fixture.ts";
import { createTelegramFixture } from "./telegram-fixture.ts";
import { createWhatsAppFixture } from "./whatsapp-fixture.ts";

const FIXTURES: Partial<Record<ChannelId, () => Promise<PlatformFixture>>> = {
  channel_a: createTelegramFixture,
  channel_b: createDiscordFixture,
  channel_c: createWhatsAppFixture,
  channel_d: createSlackFixture,
  channel_e: createEmailFixture,
};
/** Why the server of a channel can't run here, by channel. */
const MISSING: Partial<Record<ChannelId, string | undefined>> = { channel_e: dovecotIsMissing() };

afterAll(stopEmailServer);

describe.each([...channelDefinitions()])("$label", ({ id, capabilities }) => {
  const start = FIXTURES[id];
  if (!start) return test("has a fixture", () => expect(Object.keys(FIXTURES)).toContain(id));
  const missing = MISSING[id];
  if (missing !== undefined) return test.skip(`can't be tried here: ${missing}`, () => undefined);
  const harness = createHarness(start, capabilities);
  defineReceivingScenarios(harness);
  defineSendingScenarios(harness);
  defineChoiceScenarios(harness);
  defineFileScenarios(harness);
});
