// Lets a person in by the code that the bot gave them, or by their id on the platform.

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useId, useState } from "react";
import { api } from "../../../api/api.ts";
import { ApiError } from "../../../api/errors.ts";
import { Button } from "../../../parts/button.tsx";
import { messageOf } from "../../../parts/error-note.tsx";
import { CheckField, TextField } from "../../../parts/forms/field.tsx";
import { Form } from "../../../parts/forms/form.tsx";
import { showToast } from "../../../parts/toast.tsx";
import { t } from "../../../viewer/language.ts";
import { useAgent } from "../agent.tsx";
import { type Access, type ChannelKind, channelPath, connectionsKey } from "./data.ts";
import { personIdTexts } from "./guides.tsx";

interface Props {
  kind: ChannelKind;
  access: Access;
  hasWaiting: boolean;
}

/** What the bot's codes look like. */
const CODE = /^[A-HJ-NP-Z2-9]{6}$/i;

export function AddPerson({ kind, access, hasWaiting }: Props) {
  const agent = useAgent();
  const queries = useQueryClient();
  const [text, setText] = useState("");
  const [isMe, setMe] = useState(false);
  const formId = useId();
  const write = useMutation({
    mutationFn: (given: string) => letIn(agent.id, kind.channel, access, given, isMe),
    onSuccess() {
      setText("");
      setMe(false);
      showToast(isMe ? t("The agent obeys you now") : t("They can talk to your agent now"));
    },
    onSettled: () => queries.invalidateQueries({ queryKey: connectionsKey(agent.id) }),
  });
  const ids = personIdTexts(kind.channel);
  const submit = () => {
    if (text.trim() !== "") write.mutate(text.trim());
  };
  const idHint = ids ? t(ids.hint) : kind.guide.ownerId;
  return (
    <details open={hasWaiting || undefined}>
      <summary className="font-medium text-sea">{t("Add somebody by a code or an id")}</summary>
      <Form id={formId} onSubmit={submit} className="mt-3 flex max-w-xl flex-col items-start gap-3">
        <div className="w-full">
          <TextField
            label={t("Code or id")}
            value={text}
            placeholder={ids?.example}
            onChange={(event) => {
              setText(event.target.value);
              write.reset();
            }}
            error={write.error ? problemOf(write.error) : undefined}
            hint={`${t("The code is six letters and digits, which the bot sent them.")} ${idHint}`}
          />
        </div>
        <CheckField
          label={t("This is me")}
          hint={t("You become the owner: the agent obeys you, and you decide about its tools in the chat.")}
          checked={isMe}
          onChange={(event) => setMe(event.target.checked)}
        />
        <Button type="submit" isBusy={write.isPending} disabled={text.trim() === ""}>
          {t("Add")}
        </Button>
      </Form>
    </details>
  );
}

/** Where a person is written down depends on the rule in force. */
function letIn(agentId: string, channel: string, { access, allow, owners }: Access, given: string, isMe: boolean) {
  if (CODE.test(given)) return api.post(channelPath(agentId, channel, "/pairings"), { code: given, owner: isMe });
  const write = (body: object) => api.put(channelPath(agentId, channel, "/access"), body);
  if (isMe) return write({ owner: given });
  if (access === "allowlist") return write({ allow: [...allow, given] });
  if (access === "owner") return write({ owners: [...owners, given] });
  return api.put(channelPath(agentId, channel, `/pairings/${encodeURIComponent(given)}`), { status: "approved" });
}

function problemOf(error: unknown): string {
  const [issue] = error instanceof ApiError ? error.issues : [];
  return issue?.message ?? messageOf(error);
}
