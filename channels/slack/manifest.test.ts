import { expect, test } from "bun:test";
import { testedBlocks } from "../../site/tested-blocks.ts";
import { MANIFEST, NEEDED_SCOPES } from "./manifest.ts";

test("docs/slack.md has the manifest", () => {
  const [block] = testedBlocks(import.meta.path, "docs/slack.md", 1);
  expect(block.code).toBe(MANIFEST);
});

test("the manifest asks for every scope that connecting wants, and turns Socket Mode on", () => {
  const { oauth_config, settings } = JSON.parse(MANIFEST) as {
    oauth_config: { scopes: { bot: string[] } };
    settings: Record<string, unknown>;
  };
  expect(oauth_config.scopes.bot).toEqual(expect.arrayContaining(NEEDED_SCOPES));
  expect(settings).toMatchObject({ socket_mode_enabled: true, token_rotation_enabled: false });
  // It goes into an address, of which browsers and Slack take about 8,000 characters.
  expect(new URLSearchParams({ manifest_json: MANIFEST }).toString().length).toBeLessThan(4_000);
});
