// Proofs of who stands behind an agent, and stopping, emptying and deleting it, in Chromium.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { type Berth, startBerth } from "../support/berth.ts";
import type { Client } from "../support/client.ts";
import { eventually } from "../support/eventually.ts";
import { member, provision } from "../support/members.ts";
import { expectAccessible, openConsole } from "./support/console.ts";

let berth: Berth;
let ada: Client;
let agentId: string;

beforeAll(async () => {
  // No chain can be reached.
  berth = await startBerth({ env: { MAINNET_RPC_URL: "http://127.0.0.1:9" } });
  ada = await member(berth);
  ({ id: agentId } = await provision(ada, "Harbour"));
});
afterAll(() => berth?.[Symbol.asyncDispose]());

/** Puts a wallet into the browser, as an extension does. `sign` signs the hex of a text, or throws what the wallet throws. */
async function addWallet(page: Page, address: string, sign: (hex: string) => Promise<string | { code: number }>) {
  await page.exposeFunction("signInTest", sign);
  await page.addInitScript((account: string) => {
    const request = async ({ method, params }: { method: string; params?: string[] }) => {
      if (method === "eth_requestAccounts") return [account];
      const signed = await (Reflect.get(globalThis, "signInTest") as (hex?: string) => Promise<string | object>)(
        params?.[0],
      );
      if (typeof signed === "object") throw signed;
      return signed;
    };
    Object.assign(globalThis, { ethereum: { request } });
  }, address);
}

describe("the proofs", () => {
  test("by a device: it is registered, confirms, and the proof can be taken back, with undo", async () => {
    // Devices know names only, not addresses.
    const named = { ...berth, web: berth.web.replace("127.0.0.1", "localhost") };
    await using console = await openConsole(named, ada);
    const { page, context } = console;
    const devtools = await context.newCDPSession(page);
    await devtools.send("WebAuthn.enable");
    const options = {
      protocol: "ctap2" as const,
      transport: "internal" as const,
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
    };
    await devtools.send("WebAuthn.addVirtualAuthenticator", { options });
    await console.open(`/agents/${agentId}/verification`);
    await page.getByText("Not verified").waitFor();
    for (const round of ["registers", "signs"]) {
      await page.getByRole("button", { name: "Confirm with this device" }).click();
      await page.getByText("Verified: This device").waitFor();
      await page.getByRole("button", { name: "Remove the proof" }).click();
      await page.getByText("Not verified").waitFor();
      if (round === "registers") {
        await page.getByRole("button", { name: "Undo" }).click();
        await page.getByText("Verified: This device").waitFor();
      }
    }
    await page.goto("/approvals");
    await page.getByRole("heading", { name: "Approvals", level: 1 }).waitFor();
    await expectVerified(false);
    expect(console.complaints()).toEqual([]);
  });

  const expectVerified = async (verified: boolean) => {
    await eventually(
      async () => {
        const { body } = await ada.get<{ verified: boolean }>(`/api/agents/${agentId}/verification`);
        return body.verified === verified;
      },
      { what: `the agent is ${verified ? "verified" : "unverified"}` },
    );
  };

  test("by a wallet: it signs the server's text; its refusal and a chain that is away are told", async () => {
    await using console = await openConsole(berth, ada);
    const { page } = console;
    const account = privateKeyToAccount(generatePrivateKey());
    const signed: string[] = [];
    let isWilling = false;
    await addWallet(page, account.address, async (hex) => {
      if (!isWilling) return { code: 4001 };
      const message = Buffer.from(hex.slice(2), "hex").toString();
      signed.push(message);
      return account.signMessage({ message });
    });
    await console.open(`/agents/${agentId}/verification`);
    const sign = page.getByRole("button", { name: "Sign with the wallet" }).first();
    await sign.click();
    await page.getByText("You said no in the wallet. Nothing has changed.").waitFor();
    isWilling = true;
    await sign.click();
    await page.getByRole("alert").getByText("chain", { exact: false }).waitFor();
    expect(signed[0]).toContain(`Agent ID: ${agentId}`);
    expect(signed[0]).toContain("Verification: exchange account");
    expect(console.complaints()).toEqual([]);
  });

  test("without a wallet in the browser: the text can be signed elsewhere", async () => {
    await using console = await openConsole(berth, ada);
    const { page } = console;
    await console.open(`/agents/${agentId}/verification`);
    await page.getByText("This browser has no wallet.").waitFor();
    await page.getByRole("button", { name: "Sign elsewhere" }).first().click();
    const text = page.getByRole("group", { name: "The text to sign" });
    await text.getByText(`Agent ID: ${agentId}`).waitFor();
    await page.getByLabel("Address of the wallet").fill("nonsense");
    await page.getByLabel("Signature").fill("0x12");
    await page.getByRole("button", { name: "Check the signature" }).click();
    await page.getByRole("alert").waitFor();
    expect(console.complaints()).toEqual([]);
  });

  test(
    "are accessible",
    () =>
      expectAccessible(berth, ada, `/agents/${agentId}/verification`, {
        name: "verification",
        async prepare(page) {
          await page.locator("main button[aria-expanded]").first().click();
          await page.locator("pre").waitFor();
        },
      }),
    120_000,
  );
});

describe("stopping and deleting", () => {
  test("an agent stops, starts again by undo, restarts, is repaired, and forgets, with undo", async () => {
    await ada.post("/api/agent", { agentId, message: "Remember the harbour" });
    await using console = await openConsole(berth, ada);
    const { page } = console;
    await console.open(`/agents/${agentId}/danger`);
    const control = page.getByRole("region", { name: "Start and stop" });
    await control.getByRole("button", { name: "Stop", exact: true }).click();
    await page.getByText("The agent is stopped.").waitFor();
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByText("The agent is up.").waitFor();
    await control.getByRole("button", { name: "Stop", exact: true }).waitFor();
    await control.getByRole("button", { name: "Restart" }).click();
    await page.getByText("Restarted", { exact: false }).last().waitFor();
    await control.getByRole("button", { name: "Check and repair" }).click();
    await page.getByText("Nothing had to be repaired.").waitFor();
    const sessions = async () =>
      (await ada.get<{ sessions: object[] }>(`/api/agent?action=sessions&agentId=${agentId}`)).body.sessions.length;
    expect(await sessions()).toBe(1);
    await page.getByRole("button", { name: "Forget everything" }).click();
    await page.getByText("The agent has forgotten everything.").waitFor();
    expect(await sessions()).toBe(0);
    await page.getByRole("button", { name: "Undo" }).last().click();
    await page.getByText("Everything is there again.").waitFor();
    expect(await sessions()).toBe(1);
    expect(console.complaints()).toEqual([]);
  });

  test("an agent is deleted only by its name", async () => {
    const { id } = await provision(ada, "Old <b>boat</b>");
    await using console = await openConsole(berth, ada);
    const { page } = console;
    await console.open(`/agents/${id}/danger`);
    await page.getByRole("button", { name: "Delete…" }).click();
    const dialog = page.getByRole("dialog");
    const button = dialog.getByRole("button", { name: "Delete for good" });
    expect(await button.isDisabled()).toBe(true);
    await dialog.getByRole("textbox").fill("Old boat");
    expect(await button.isDisabled()).toBe(true);
    await dialog.getByRole("textbox").fill("Old <b>boat</b>");
    await page.route(`**/api/agents/${id}`, (route) =>
      route.request().method() === "DELETE" ? route.abort() : route.continue(),
    );
    await button.click();
    await dialog.getByRole("alert").getByText("Berth can't be reached.").waitFor();
    await page.unroute(`**/api/agents/${id}`);
    await button.click();
    await page.getByText("Old <b>boat</b> is deleted.").waitFor();
    await page.getByRole("heading", { name: "Agents", level: 1 }).waitFor();
    expect((await ada.get(`/api/agents/${id}`)).status).toBe(404);
    expect(console.complaints()).toEqual([]);
  });

  test(
    "is accessible, also while it asks for the name",
    () =>
      expectAccessible(berth, ada, `/agents/${agentId}/danger`, {
        name: "danger",
        async prepare(page) {
          await page.locator("main section button").last().click();
          await page.getByRole("dialog").waitFor();
        },
      }),
    120_000,
  );
});
