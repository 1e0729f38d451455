// Takes an agent off a platform, after a time in which that can be undone: the token could not be brought back.

import { useQueryClient } from "@tanstack/react-query";
import { api } from "../../../api/api.ts";
import { Button } from "../../../parts/button.tsx";
import { withUndo } from "../../../parts/toast.tsx";
import { useNavigate } from "../../../viewer/address.ts";
import { t } from "../../../viewer/language.ts";
import { useAgent } from "../agent.tsx";
import { type Connection, channelPath, connectionsKey } from "./data.ts";

export function DisconnectButton({ connection: { channel, label } }: { connection: Connection }) {
  const agent = useAgent();
  const queries = useQueryClient();
  const go = useNavigate();
  const queryKey = connectionsKey(agent.id);
  const disconnect = () =>
    withUndo(
      t("{platform} is disconnected", { platform: label }),
      () => {
        const before = queries.getQueryData<{ channels: Connection[] }>(queryKey);
        queries.setQueryData(queryKey, {
          channels: before?.channels.filter((one) => one.channel !== channel) ?? [],
        });
        go(`/agents/${agent.id}/channels`);
        return () => queries.setQueryData(queryKey, before);
      },
      async () => {
        await api.delete(channelPath(agent.id, channel));
        await queries.invalidateQueries({ queryKey });
      },
    );
  return (
    <Button look="danger" onClick={disconnect}>
      {t("Disconnect {platform}", { platform: label })}
    </Button>
  );
}
