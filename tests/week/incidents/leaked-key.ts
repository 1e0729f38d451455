import { type Incident, lineWith, pass } from "../incident.ts";

export const leakedKey: Incident = {
  name: "a customer's API key leaks",
  async play(world, monitor) {
    const { ada, berth, talk } = world;
    const { body: key } = await ada.client.post<{ id: string; key: string }>("/api/keys", {
      name: "Shop",
      scopes: ["write"],
    });
    const steal = (n: number) =>
      fetch(`${berth.web}/api/agents/provision`, {
        method: "POST",
        headers: { authorization: `Bearer ${key.key}`, "content-type": "application/json" },
        body: JSON.stringify({ name: `Spam ${n}` }),
      });
    const stolen = await steal(1);
    if (stolen.status !== 201)
      throw new Error(`The thief could not use the key: ${stolen.status} ${await stolen.text()}`);
    const audit = await world.admin.get<{ entries: { action: string; actor: unknown }[] }>("/api/admin/audit?limit=20");
    const entry = audit.body.entries.find(({ actor }) => JSON.stringify(actor).includes(key.id));
    if (!entry) throw new Error(`The audit log does not name the key: ${audit.text}`);
    // While the operator looks at it, everything of the account rests.
    const frozen = await berth.command(
      "user",
      "freeze",
      ada.client.account.email,
      "--reason",
      "Its key is used by somebody else.",
    );
    if (frozen.exitCode !== 0) throw new Error(frozen.stderr);
    const refused = await steal(2);
    const { code } = (await refused.json()) as { code: string };
    if (refused.status !== 403 || code !== "ACCOUNT_FROZEN")
      throw new Error(`The thief goes on: ${refused.status} ${code}`);
    await pass(world, monitor, 3, () => talk.say(2));
    const { waiting } = await talk.counts();
    const revoked = await ada.client.delete(`/api/keys/${key.id}`);
    if (revoked.status >= 300) throw new Error(`The owner can't revoke the key: ${revoked.text}`);
    const thawed = await berth.command("user", "unfreeze", ada.client.account.email);
    if (thawed.exitCode !== 0) throw new Error(thawed.stderr);
    await talk.answered("the messages during the freeze");
    if ((await steal(3)).status !== 401) throw new Error("The key still works.");
    const verified = await berth.command("audit", "verify");
    return {
      saw: [`the audit log: ${entry.action} by key ${key.id.slice(0, 8)}…`, lineWith(verified.stdout, "entries")],
      did: ["berth user freeze", "asked the customer, who revoked the key", "berth user unfreeze"],
      noticed: [`the thief: 403, then 401; the customer: ${waiting} messages were answered after the freeze`],
    };
  },
};
