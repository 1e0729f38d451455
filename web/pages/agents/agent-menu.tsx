// The menu of one agent in the list, at the button that opened it.

import { Menu } from "@base-ui/react/menu";
import { Copy, ExternalLink, MessageSquare, Play, RotateCw, SlidersHorizontal, Square } from "lucide-react";
import { type AgentOverview, isRunning, useOperation } from "../../data/agents.ts";
import { MenuItem, MenuPopup, MenuSeparator } from "../../parts/menu.tsx";
import { showToast } from "../../parts/toast.tsx";
import { copyText } from "../../parts/values/copy-button.tsx";
import { useNavigate } from "../../viewer/address.ts";
import { t } from "../../viewer/language.ts";

interface Props {
  agent: AgentOverview;
  anchor: HTMLElement;
  onClose: () => void;
}

export default function AgentMenu({ agent, anchor, onClose }: Props) {
  const { id, name, status, url, publicPage } = agent;
  const navigate = useNavigate();
  const operate = useOperation();
  const copy = async (value: string) => {
    if (await copyText(value)) showToast(t("Copied"));
  };
  return (
    <Menu.Root
      open
      onOpenChange={(isOpen) => {
        if (isOpen) return;
        onClose();
        anchor.focus();
      }}
    >
      <MenuPopup anchor={anchor}>
        <MenuItem onClick={() => navigate(`/agents/${id}/chat`)}>
          <MessageSquare aria-hidden="true" /> {t("Talk to it")}
        </MenuItem>
        <MenuItem onClick={() => navigate(`/agents/${id}/set-up`)}>
          <SlidersHorizontal aria-hidden="true" /> {t("Set up")}
        </MenuItem>
        <MenuSeparator />
        {isRunning(status) ? (
          <MenuItem onClick={() => void operate({ id, name }, "stop")}>
            <Square aria-hidden="true" /> {t("Stop")}
          </MenuItem>
        ) : (
          <MenuItem onClick={() => void operate({ id, name }, "start")}>
            <Play aria-hidden="true" /> {t("Start")}
          </MenuItem>
        )}
        <MenuItem onClick={() => void operate({ id, name }, "restart")}>
          <RotateCw aria-hidden="true" /> {t("Restart")}
        </MenuItem>
        <MenuSeparator />
        <MenuItem onClick={() => void copy(id)}>
          <Copy aria-hidden="true" /> {t("Copy the id")}
        </MenuItem>
        {publicPage && (
          <MenuItem onClick={() => void copy(url)}>
            <ExternalLink aria-hidden="true" /> {t("Copy the public address")}
          </MenuItem>
        )}
      </MenuPopup>
    </Menu.Root>
  );
}
