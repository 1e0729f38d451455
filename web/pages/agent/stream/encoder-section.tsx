// What a program such as OBS needs to send video: the server, the key, and where they go.

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../../api/api.ts";
import { Button } from "../../../parts/button.tsx";
import { FormDialog } from "../../../parts/forms/form-dialog.tsx";
import { Section } from "../../../parts/page/page.tsx";
import { showToast } from "../../../parts/toast.tsx";
import { CopyValue } from "../../../parts/values/copy-value.tsx";
import { SecretValue } from "../../../parts/values/secret-value.tsx";
import { rich, t } from "../../../viewer/language.ts";
import { useAgent } from "../agent.tsx";
import { type Stream, streamKeyOf, streamPath } from "./data.ts";

export function EncoderSection({ stream }: { stream: Stream }) {
  const agent = useAgent();
  const queries = useQueryClient();
  const [isShown, setShown] = useState(false);
  const [isAsking, setAsking] = useState(false);
  const rotate = useMutation({
    mutationFn: () => api.post<Stream>(`${streamPath(agent.id)}/rotate`, {}),
    async onSuccess() {
      setAsking(false);
      await queries.invalidateQueries({ queryKey: streamKeyOf(agent.id) });
      showToast(t("The key is replaced. Enter the new one in your program."));
    },
  });
  const strong = (words: string, key: string) => <strong key={key}>{words}</strong>;
  return (
    <Section title={t("Send video")} hint={t("With OBS, which is free, or any other program that speaks RTMP.")}>
      <div className="flex flex-col gap-4">
        <dl className="grid gap-3">
          <div>
            <dt className="font-medium">{t("Server")}</dt>
            <dd>
              <CopyValue value={stream.rtmpServer ?? ""} label={t("Copy the server")} />
            </dd>
          </div>
          <div>
            <dt className="font-medium">{t("Stream key")}</dt>
            <dd>
              <SecretValue
                label={t("Stream key")}
                value={isShown ? (stream.streamKey ?? "") : undefined}
                onShow={() => setShown(true)}
                onHide={() => setShown(false)}
              />
            </dd>
          </div>
        </dl>
        <ol className="list-decimal pl-5 [&>li]:max-w-prose [&>li]:py-0.5">
          <li>
            {rich("In OBS, open <b>Settings → Stream</b> and choose <b>Custom</b> as the service.", { b: strong })}
          </li>
          <li>{t("Copy the server and the key from here into the two fields.")}</li>
          <li>
            {rich("Under <b>Output</b>, choose H.264 and AAC, at most 8 Mbit/s, and a keyframe every 2 seconds.", {
              b: strong,
            })}
          </li>
          <li>{rich("Press <b>Start Streaming</b>. The picture appears above after some seconds.", { b: strong })}</li>
        </ol>
        <div>
          <Button onClick={() => setAsking(true)}>{t("Replace the key")}</Button>
        </div>
      </div>
      {isAsking && (
        <FormDialog
          title={t("Replace the key?")}
          action={t("Replace it")}
          look="danger"
          cancel={t("Keep it")}
          isBusy={rotate.isPending}
          error={rotate.error}
          onSubmit={() => rotate.mutate()}
          onClose={() => setAsking(false)}
        >
          <p>{t("Who sends video now is disconnected, and needs the new key. The address for viewers stays.")}</p>
        </FormDialog>
      )}
    </Section>
  );
}
