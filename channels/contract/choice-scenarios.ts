// The contract's scenario for a reply that offers answers.
import { expect, test } from "bun:test";
import { eventually } from "../../tests/support/eventually.ts";
import { createMemorySink, type Harness } from "./harness.ts";

export function defineChoiceScenarios(harness: Harness): void {
  test("delivers the answer that a person chooses as that person's message, once", async () => {
    const choices = [
      { label: "Approve", text: "/approve ABC" },
      { label: "Deny", text: "/deny ABC" },
    ] as const;
    const [question = ""] = await harness.send(harness.message({ text: "May I?", choices }));
    expect(harness.platform.visibleChoices(question)).toEqual([...choices]);
    const { state, sink, waitFor } = createMemorySink();
    const listening = harness.receive(sink);
    await waitFor(() => state.alive > 0);
    harness.platform.userSays("well");
    harness.platform.userChooses(question, choices[1]);
    await waitFor(() => state.messages.length === 2);
    await eventually(() => harness.platform.unconfirmedCount() === 0);
    const [said, chosen] = state.messages;
    expect(chosen).toMatchObject({ text: "/deny ABC", peer: said?.peer, group: false, addressed: true });
    expect(chosen?.sender.id).toBe(said?.sender.id ?? "");
    expect(chosen?.platformMessageId).not.toBe(said?.platformMessageId ?? "");
    harness.stop();
    await listening;
    expect(state.messages.length).toBe(2);
  });

  test("keeps the buttons when somebody presses one who may not answer", async () => {
    const choices = [{ label: "Approve", text: "/approve ABC" }] as const;
    const [question = ""] = await harness.send(harness.message({ text: "May I?", choices }));
    const { state, sink, waitFor } = createMemorySink();
    state.mayAnswer = false;
    const listening = harness.receive(sink);
    await waitFor(() => state.alive > 0);
    harness.platform.userChooses(question, choices[0]);
    await waitFor(() => state.messages.length === 1);
    // What was stored later is finished later.
    harness.platform.userSays("well");
    await waitFor(() => state.messages.length === 2);
    await eventually(() => harness.platform.unconfirmedCount() === 0);
    expect(harness.platform.visibleChoices(question)).toEqual([...choices]);
    harness.stop();
    await listening;
  });
}
