import { expect, test } from "bun:test";
import { channelTable, pagePath, provisioningTable, renderChannelsPage } from "./documentation.ts";

test("docs/channels.md has the tables of the registry; if not, run: bun channels/documentation.ts", async () => {
  const page = await Bun.file(pagePath).text();
  expect(page).toContain(channelTable());
  expect(page).toContain(provisioningTable());
  expect(page).toBe(renderChannelsPage(page));
});
